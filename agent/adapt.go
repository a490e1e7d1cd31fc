package agent

import "context"

// TextFunc makes an agent's function from one that turns text into text. Of nil
// it makes nil, which [Agent.Err] reports.
func TextFunc(f func(ctx context.Context, text string) (string, error)) InvokeFunc {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, req *Request) (*Result, error) {
		out, err := f(ctx, req.Text())
		if err != nil {
			return nil, err
		}
		return Text(out), nil
	}
}

// DataFunc makes an agent's function from one that turns a typed value into
// another: the message's first data part is decoded into In with
// [Request.Decode], whose error is returned, and the answer is one data part.
// Of nil it makes nil, which [Agent.Err] reports.
func DataFunc[In, Out any](f func(ctx context.Context, in In) (Out, error)) InvokeFunc {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, req *Request) (*Result, error) {
		var in In
		if err := req.Decode(&in); err != nil {
			return nil, err
		}
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		return Data(out), nil
	}
}
