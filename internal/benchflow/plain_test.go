package benchflow_test

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/errgroup"
)

type plainFunc func(context.Context, *counter) (int, error)

//go:noinline
func plainNode(_ context.Context, s *counter) (int, error) { return s.N + 1, nil }

//go:noinline
func plainWorker(_ context.Context, s *counter) (int, error) { return s.N + work(), nil }

// plainChain calls functions one after the other.
func plainChain(nodes int, node plainFunc) (run, error) {
	fns := repeat(nodes, node)
	return func(ctx context.Context) (int, error) {
		var s counter
		for _, f := range fns {
			v, err := f(ctx, &s)
			if err != nil {
				return 0, err
			}
			s.N = v
		}
		return s.N, nil
	}, nil
}

// plainChainJSON keeps the state as JSON after each function.
func plainChainJSON(nodes int) (run, error) {
	fns := repeat(nodes, plainNode)
	return func(ctx context.Context) (int, error) {
		var s counter
		var saved []byte
		for _, f := range fns {
			v, err := f(ctx, &s)
			if err != nil {
				return 0, err
			}
			s.N = v
			if saved, err = json.Marshal(&s); err != nil {
				return 0, err
			}
		}
		lastSaved = saved
		return s.N, nil
	}, nil
}

// lastSaved keeps the compiler from dropping what nobody reads.
var lastSaved []byte

func plainLoop(rounds int) (run, error) {
	fns := repeat(1, plainNode)
	return func(ctx context.Context) (int, error) {
		var s counter
		for s.N < rounds {
			v, err := fns[0](ctx, &s)
			if err != nil {
				return 0, err
			}
			s.N = v
		}
		return s.N, nil
	}, nil
}

func plainFanOut(width int) (run, error) {
	fns := repeat(width, plainNode)
	return func(ctx context.Context) (int, error) {
		var s counter
		outs := make([]int, width)
		group, groupCtx := errgroup.WithContext(ctx)
		for i, f := range fns {
			group.Go(func() (err error) {
				outs[i], err = f(groupCtx, &s)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return 0, err
		}
		for _, v := range outs {
			s.N += v
		}
		return plainNode(ctx, &s) // the join
	}, nil
}

func repeat(n int, node plainFunc) []plainFunc {
	fns := make([]plainFunc, n)
	for i := range fns {
		fns[i] = node
	}
	return fns
}
