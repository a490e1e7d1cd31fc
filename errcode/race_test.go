//go:build race

package errcode_test

// raceEnabled tells that allocations and times mean nothing.
const raceEnabled = true
