//go:build race

package flowtest_test

// racing are the broken stores whose fault is a data race, which the race
// detector finds instead.
func racing() []broken { return nil }
