package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test's binary be the process with the flow.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1][0] != '-' {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestProgram(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	want := `A process begins the flow:
  runs check_order
  runs reserve_stock
  the process is dead: signal: killed
Another goes on with it:
  runs charge_card
  runs print_label
  runs send_mail
  completed: check_order, reserve_stock, charge_card, print_label, send_mail
Every node ran once.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
