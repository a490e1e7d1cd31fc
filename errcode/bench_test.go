package errcode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/errcode"
)

// wrapped returns err below depth layers of fmt.Errorf.
func wrapped(err error, depth int) error {
	for range depth {
		err = fmt.Errorf("layer: %w", err)
	}
	return err
}

func BenchmarkClassify(b *testing.B) {
	table := errcode.Default()
	for _, depth := range []int{1, 5, 20} {
		err := wrapped(&errcode.RegistryNotFoundError{Name: "x"}, depth)
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if table.Classify(err).Code != errcode.NotFound {
					b.Fatal("wrong code")
				}
			}
		})
		b.Run(fmt.Sprintf("baseline=errors.As/depth=%d", depth), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var target *errcode.RegistryNotFoundError
				if !errors.As(err, &target) {
					b.Fatal("not found")
				}
			}
		})
		b.Run(fmt.Sprintf("baseline=unwrap/depth=%d", depth), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for e := err; e != nil; e = errors.Unwrap(e) {
					n++
				}
				if n != depth+1 {
					b.Fatal("wrong depth")
				}
			}
		})
	}
}

// BenchmarkRules measures ten rules in front of the defaults by the place of the one that matches.
func BenchmarkRules(b *testing.B) {
	table := errcode.NewTable(typedRules()...)
	cases := []struct {
		name string
		err  error
	}{
		{"first", typeAError{}}, {"last", typeJError{}}, {"sentinel=last", sentinels[9]}, {"none", &errcode.RegistryNotFoundError{}},
	}
	for _, c := range cases {
		for _, depth := range []int{1, 5, 20} {
			err := wrapped(c.err, depth)
			b.Run(fmt.Sprintf("match=%s/depth=%d", c.name, depth), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					table.Classify(err)
				}
			})
			b.Run(fmt.Sprintf("match=%s/depth=%d/baseline=ten errors.As", c.name, depth), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					tenTimesAs(err)
				}
			})
		}
	}
}

func BenchmarkClassifyKind(b *testing.B) {
	table := errcode.NewTable(errcode.When("never", func(error) bool { return false }, errcode.Internal, "x"))
	plain := errcode.Default()
	kinds := map[string]error{
		"unknown": wrapped(errors.New("boom"), 1),
		"own":     wrapped(errcode.New(errcode.RateLimited, "quota"), 1),
		"http":    wrapped(&errcode.HTTPStatusError{StatusCode: 502}, 1),
		"join":    errors.Join(errors.New("a"), errcode.New(errcode.RateLimited, "quota")),
	}
	for name, err := range kinds {
		b.Run("kind="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plain.Classify(err)
			}
		})
		b.Run("rules=1/kind="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Classify(err)
			}
		})
	}
}

func BenchmarkBuildData(b *testing.B) {
	cases := map[string]*errcode.Error{
		"small": errcode.New(errcode.NotFound, "account_missing", errcode.Message("No such account.")),
		"full":  fullError(),
		"10MB":  errcode.New(errcode.Internal, "big", errcode.Message(strings.Repeat("All work and no play. ", 10<<20/22))),
	}
	for name, e := range cases {
		b.Run("case="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := errcode.Builder{}.Data(e)
				if err != nil {
					b.Fatal(err)
				}
				if len(d.Map()) < 4 {
					b.Fatal("incomplete")
				}
			}
		})
	}
}

// BenchmarkEncodeData measures the JSON of a data part that was built.
func BenchmarkEncodeData(b *testing.B) {
	for name, e := range map[string]*errcode.Error{
		"small": errcode.New(errcode.NotFound, "account_missing", errcode.Message("No such account.")),
		"full":  fullError(),
	} {
		d, err := errcode.Builder{}.Data(e)
		if err != nil {
			b.Fatal(err)
		}
		for kind, v := range map[string]any{"struct": d, "map": d.Map()} {
			b.Run("case="+name+"/of="+kind, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := json.Marshal(v); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	clean := "lookup of account 4711 failed: the bank's service answered with status 502 (Bad Gateway): see ticket=88, "
	cases := []struct{ name, text string }{
		{"clean=100B", clean[:100]},
		{"clean=8KiB", strings.Repeat(clean, 80)[:8<<10]},
		{"secret=100B", clean[:60] + " postgres://bob:hunter2@db/x password=hunter2"},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				errcode.Redact(c.text)
			}
		})
	}
}
