// Package flow runs typed graphs of nodes between START and END that keep what
// was done when a node fails, name that node, and can be resumed.
//
//	g := flow.New[State]("loan")
//	subject := flow.Node(g, "fetch_subject", "business", fetch, func(s *State, v Subject) { s.Subject = v })
//	search := flow.Node(g, "rag_search", "business", rag, func(s *State, v []Doc) { s.Docs = v },
//		flow.Retry(3), flow.Timeout(5*time.Second))
//	g.Edge(flow.START, subject)
//	g.Edge(subject, search)
//	g.Edge(search, flow.END)
//	loan, err := g.Compile()
//	...
//	res, err := loan.Run(ctx, runID, State{}, flow.WithStore(store))
//
// A node reads a copy of the state and returns an output. The scheduler alone
// puts outputs into the state, in the order in which the nodes were added, so
// that no result depends on chance. The output is also the artifact a client
// receives, and what a checkpoint holds.
//
// # Rounds
//
// A run goes on in rounds: the nodes whose turn it is run side by side on the
// same state; when all have finished, their outputs are applied, and edges and
// routes tell whose turn is next. Branches that meet need a declared
// [Graph.Join], which runs once, when no running branch can reach it any more.
//
// # Failure
//
// The first node that fails cancels its siblings; all are waited for. The run
// returns the result so far and a [*NodeError] with the node, what was
// completed, and the cause, which decides about the code clients see. Panics in
// nodes and in all other functions given to a flow end the same way.
//
// # Checkpoints, questions, resuming
//
// With a [Store] every output is saved before anything that follows from it
// begins, and [Compiled.Resume] continues a run that failed, paused or lost its
// process; completed nodes never run again. A node asks people with hitl.Ask:
// the run pauses until Resume is given an [Answer]. [Once] keeps side effects from
// happening twice. A node can run another flow, which is then a part of the
// run, see [Nested].
package flow
