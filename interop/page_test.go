package interop

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the matrix into docs/interop.md")

const (
	page        = root + "/docs/interop.md"
	matrixBegin = "<!-- The matrix: go test ./interop -run TestPage -update -->\n"
	matrixEnd   = "<!-- The matrix ends. -->\n"
)

// TestPage: the page's matrix is what TestClients checks.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(b), matrixBegin)
	_, after, ends := strings.Cut(rest, matrixEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the matrix", page)
	}
	want := before + matrixBegin + matrix(listed(t, showcase(t))) + matrixEnd + after
	if want == string(b) {
		return
	}
	if !*update {
		t.Fatalf("%s is not current: go test ./interop -run TestPage -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// matrix draws the table and its notes.
func matrix(serves map[string]bool) string {
	var out strings.Builder
	var used []string // notes, in the order of their numbers
	out.WriteString("\n| client | binding |")
	for _, s := range situations {
		fmt.Fprintf(&out, " %s |", s.name)
	}
	fmt.Fprintf(&out, "\n|%s\n", strings.Repeat("---|", len(situations)+2))
	for _, c := range clients {
		for _, b := range c.bindings {
			if !serves[b] {
				continue
			}
			fmt.Fprintf(&out, "| %s | %s |", c.name, b)
			for _, s := range situations {
				fmt.Fprintf(&out, " %s |", mark(cell{client: c, binding: b, situation: s.name}, s, &used))
			}
			out.WriteByte('\n')
		}
	}
	out.WriteByte('\n')
	for i, note := range used {
		fmt.Fprintf(&out, "%d. %s\n", i+1, notes[note])
	}
	out.WriteString("\nWhat the columns are:\n\n")
	for _, s := range situations {
		fmt.Fprintf(&out, "- **%s**: %s\n", s.name, s.what)
	}
	out.WriteByte('\n')
	return out.String()
}

// TestFaults: each known fault shows somewhere, and has a note that says what
// happens; no note is left over.
func TestFaults(t *testing.T) {
	t.Parallel()
	var all []string
	for _, c := range clients {
		for _, b := range c.bindings {
			for _, s := range situations {
				mark(cell{client: c, binding: b, situation: s.name}, s, &all)
			}
		}
	}
	for _, f := range faults {
		if !slices.Contains(all, f.note) {
			t.Errorf("the fault %s shows nowhere", f.note)
		}
		if notes[f.note] == "" {
			t.Errorf("the fault %s has no note", f.note)
		}
	}
	if len(notes) != len(all) {
		t.Errorf("%d notes for %d faults", len(notes), len(all))
	}
}

// mark is the text of a cell: ok, or the numbers of the faults that show.
func mark(at cell, s situation, used *[]string) string {
	word, numbers := "ok", []int{}
	for _, note := range shown(at, s, &word) {
		i := slices.Index(*used, note)
		if i < 0 {
			i = len(*used)
			*used = append(*used, note)
		}
		numbers = append(numbers, i+1)
	}
	if len(numbers) == 0 {
		return word
	}
	slices.Sort(numbers)
	return strings.TrimSpace(word + " " + strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "))
}

// shown are the notes of the faults that show in a cell. The word is taken
// away where one of them does, and "—" where nothing can be called.
func shown(at cell, s situation, word *string) []string {
	var out []string
	possible := false
	for _, at.mode = range []string{"blocking", "streaming"} {
		for _, turn := range s.turns {
			want := at.ideal(turn)
			could := true
			for _, f := range faults {
				if !f.applies(at, turn) {
					continue
				}
				before := want
				if f.alter != nil {
					f.alter(&want)
				} else {
					could = false
				}
				if (f.alter == nil || !reflect.DeepEqual(before, want)) && !slices.Contains(out, f.note) {
					out = append(out, f.note)
				}
			}
			if !could {
				break
			}
			possible = true
		}
	}
	switch {
	case !possible:
		*word = "—"
	case len(out) > 0:
		*word = ""
	}
	return out
}
