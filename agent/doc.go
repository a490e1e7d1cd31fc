// Package agent is what an agent author writes.
//
// An agent is a name and a function. The function returns a [Result], or any
// error; what the client learns of an error is decided by the table of package
// errcode, so most code just returns the errors it gets:
//
//	a := agent.New("subject-management", agent.Invoke(
//		func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
//			if req.Text() == "" {
//				return nil, errcode.New(errcode.InvalidInput, "query_empty",
//					errcode.Message("the query is empty"))
//			}
//			account, err := bank.Lookup(ctx, req.Text())
//			if err != nil {
//				return nil, fmt.Errorf("bank lookup: %w", err)
//			}
//			return agent.Text(account.Summary()), nil
//		}))
//
// An agent implements [Invoke], [Stream], or both: a streaming request uses
// Stream and a blocking one Invoke where the agent has it. [TextFunc] and
// [DataFunc] make one from a plain function.
//
// "Nothing found" and "not eligible" are results, not errors: [Data] with a
// [Result.Note], or [Rejected]. Missing input is a question: return
// hitl.InputRequired. [Validate] refuses a request before a task exists.
//
// Package executor runs an agent as an A2A server.
package agent
