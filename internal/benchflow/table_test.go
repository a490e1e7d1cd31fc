package benchflow_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var write = flag.Bool("write", false, "measure, and write the table into the pages in docs")

const (
	benchmarksPage = "../../docs/flow-benchmarks.md"
	comparisonPage = "../../docs/flow-or-plain-functions.md"

	command = "go test -run '^TestTable$' -count=1 -benchtime=100ms -timeout=30m -write ."
	rounds  = 9

	chainOf10   = "chain=10"
	timesOfEino = 30 // at least, on the chain of 10

	// What the targets suppose of the machine, in nanoseconds.
	supposedNode = 15    // plain Go, by node
	supposedEino = 50947 // the chain of 10

	tableBegins  = "<!-- measured: begin -->\n"
	tableEnds    = "<!-- measured: end -->"
	beginOfTable = "| graph | plain Go |"
)

// TestTable checks that both pages show the same table of all graphs, and that
// the command that makes it stands above it. With -write it makes it. How
// fast anything is never fails a test.
func TestTable(t *testing.T) {
	if *write {
		writeTables(t)
	}
	page := read(t, benchmarksPage)
	table := measured(t, page)
	if table != measured(t, read(t, comparisonPage)) {
		t.Error("the pages show different tables")
	}
	for _, g := range graphs {
		if !strings.Contains(table, "| "+g.label+" | 1 |") {
			t.Errorf("the table has no row for the %s", g.label)
		}
	}
	at := strings.Index(page, command)
	if at < 0 || at > strings.Index(page, tableBegins) {
		t.Error("the command does not stand above the table")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// measured is what stands between the markers.
func measured(t *testing.T, page string) string {
	t.Helper()
	_, rest, begins := strings.Cut(page, tableBegins)
	table, _, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatal("a page has no markers for the table")
	}
	return table
}

func writeTables(t *testing.T) {
	t.Helper()
	table := render(t, compared(t))
	for _, name := range []string{benchmarksPage, comparisonPage} {
		page := read(t, name)
		page = strings.Replace(page, tableBegins+measured(t, page), tableBegins+table, 1)
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cost is that of one run of a graph, in each round.
type cost struct {
	ns     []float64
	allocs int64
}

// over is the median of what c costs as a multiple of what base does in the
// same round.
func (c cost) over(base cost) float64 {
	ratios := make([]float64, len(c.ns))
	for i := range ratios {
		ratios[i] = c.ns[i] / base.ns[i]
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// supposed is what plain Go costs according to the targets, on a machine on which
// eino takes so long for the chain of 10.
func supposed(nodes int, eino cost) cost {
	c := cost{ns: make([]float64, len(eino.ns))}
	for i, ns := range eino.ns {
		c.ns[i] = float64(nodes) * supposedNode * ns / supposedEino
	}
	return c
}

// compared measures all engines of all graphs in turn, several times over: what
// slows down the machine slows down all engines of a round.
func compared(t *testing.T) map[string]map[string]cost {
	t.Helper()
	costs := map[string]map[string]cost{}
	for range rounds {
		for _, g := range graphs {
			if costs[g.name] == nil {
				costs[g.name] = map[string]cost{}
			}
			for _, e := range g.engines {
				res := testing.Benchmark(func(b *testing.B) {
					b.Helper()
					measure(b, g, e)
				})
				if res.N == 0 {
					t.Fatalf("%s/%s failed", g.name, e.name)
				}
				c := costs[g.name][e.name]
				costs[g.name][e.name] = cost{append(c.ns, float64(res.T)/float64(res.N)), res.AllocsPerOp()}
			}
		}
	}
	return costs
}

func render(t *testing.T, costs map[string]map[string]cost) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(beginOfTable + " flow | as the target counts | target | eino | eino ÷ flow | allocations: plain, flow, eino |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, g := range graphs {
		b.WriteString(row(g, costs[g.name], einoFaster(costs[chainOf10])))
	}
	fmt.Fprintf(&b, "\n%d cores, %s, eino %s with sonic %s. On the chain of 10 a flow is %s faster than eino (target: at least %d×).\n",
		runtime.NumCPU(), runtime.Version(), required(t, "github.com/cloudwego/eino"), required(t, "github.com/bytedance/sonic"),
		times(einoFaster(costs[chainOf10]).over(costs[chainOf10][ours])), timesOfEino)
	return b.String()
}

func row(g graph, costs map[string]cost, eino10 cost) string {
	base, flow := costs[plain], costs[ours]
	counted, target := "–", "–"
	if g.target > 0 {
		ratio := flow.over(base)
		if g.tiny {
			ratio = flow.over(supposed(g.want, eino10))
		}
		met := "met"
		if ratio > g.target {
			met = "missed"
		}
		counted, target = times(ratio), fmt.Sprintf("≤ %.0f×, %s", g.target, met)
	}
	toPlain, toFlow, allocs := "–", "–", "–"
	if eino := einoFaster(costs); eino.ns != nil {
		toPlain, toFlow, allocs = times(eino.over(base)), times(eino.over(flow)), fmt.Sprint(eino.allocs)
	}
	return fmt.Sprintf("| %s | 1 | %s | %s | %s | %s | %s | %d, %d, %s |\n",
		g.label, times(flow.over(base)), counted, target, toPlain, toFlow, base.allocs, flow.allocs, allocs)
}

// einoFaster is the cost of eino in the mode that is faster for a graph, zero
// if it was not measured.
func einoFaster(costs map[string]cost) cost {
	one, all := costs[einoAny], costs[einoAll]
	if all.ns != nil && all.over(one) < 1 {
		return all
	}
	return one
}

// times writes a ratio with two digits, three from a hundred.
func times(ratio float64) string {
	switch {
	case ratio < 1.95:
		return fmt.Sprintf("%.2f×", ratio)
	case ratio < 9.95:
		return fmt.Sprintf("%.1f×", ratio)
	default:
		return fmt.Sprintf("%.0f×", math.Round(ratio))
	}
}

// required is the version of a module in go.mod.
func required(t *testing.T, module string) string {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(module) + ` (v\S+)`).FindStringSubmatch(read(t, "go.mod"))
	if found == nil {
		t.Fatalf("go.mod does not require %s", module)
	}
	return found[1]
}
