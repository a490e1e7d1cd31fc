package retry_test

import (
	"context"
	"testing"

	"github.com/a2aexec/a2aexec/errcode/retry"
)

func BenchmarkDo(b *testing.B) {
	clock := newFakeClock()
	ok := func(context.Context) (int, error) { return 1, nil }
	bad := func(context.Context) (int, error) { return 0, errDown }
	b.Run("baseline=call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = ok(b.Context())
		}
	})
	b.Run("case=success", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = retry.Do(b.Context(), ok)
		}
	})
	b.Run("case=three failures", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			clock.slept = clock.slept[:0]
			_, _ = retry.Do(b.Context(), bad, retry.WithClock(clock))
		}
	})
}
