// Package benchflow runs the same graphs as plain Go functions, as flows of
// package flow, and as graphs of github.com/cloudwego/eino, and writes the
// comparison into docs/flow-benchmarks.md. It has no code but tests:
//
//	go test .                                          # each engine computes the same
//	go test -run '^$' -bench . -benchmem .             # one measurement
//	go test -run '^TestTable$' -count=1 -write .       # measure and write the table
//
// It is a module of its own so that nothing else depends on eino.
package benchflow
