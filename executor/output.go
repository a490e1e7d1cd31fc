package executor

import (
	"fmt"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
)

// outputTooLarge is why a run that exceeds [MaxOutput] ends. It is the agent's
// fault, so none of the codes by which a client could do better.
func outputTooLarge(limit int64) *errcode.Error {
	return errcode.New(errcode.Internal, "output_too_large", errcode.Source("internal:executor"),
		errcode.Message(fmt.Sprintf("The agent produced more than the %d bytes that it may.", limit)),
		errcode.Details(map[string]any{"limitBytes": limit}))
}

// Take implements stream.Limiter. It ends the run at the first write that does
// not fit, whatever the code does about the error; nothing fits after that.
func (s sink) Take(size int) error {
	s.r.beat()
	if s.r.takes(int64(size)) {
		return nil
	}
	s.r.cancel(s.r.errOutput)
	return s.r.errOutput
}

func (r *run) takes(size int64) bool {
	return r.maxOutput == 0 || r.output.Add(size) <= r.maxOutput
}

// fit leaves out what does not fit of a result, which then is a failure.
func (r *run) fit(res *agent.Result, err error) (*agent.Result, error) {
	if res == nil || r.maxOutput == 0 {
		return res, err
	}
	kept := *res
	fits := r.takes(int64(len(res.Note)))
	if !fits {
		kept.Note = ""
	}
	for i, a := range res.Artifacts {
		if fits = fits && r.takes(outputSize(a)); !fits {
			kept.Artifacts = res.Artifacts[:i:i]
			break
		}
	}
	if !fits && err == nil {
		err = r.errOutput
	}
	return &kept, err
}

func outputSize(a agent.Artifact) int64 {
	n := int64(len(a.Name) + len(a.Description))
	n += sizeOfMap(a.Metadata)
	for _, p := range a.Parts {
		n += int64(p.Size())
	}
	return n
}
