// Package engine has the interfaces that control how runs execute: for journals, simulators, workflow servers, tests.
//
// The body of a workflow asks its Engine for everything that touches the world or the clock: Do for a call, Fork for
// branches, Sleep and Now for time. Embed Goroutines, which does all of it directly, and change what differs. Give the
// engine to runtime.WithEngine; without one, calls go straight to their tools and cost nothing.
//
// An Op is one attempt of a call: its Head says which, EncodeIn and EncodeOut are its bytes, DecodeOut answers it from a
// record, Exec runs the tool. Head.Key is the same in each run with the same data, whatever the schedule, so records can be
// found by it. A recorded result must be able to answer before the engine looks at a cancelled scope.
//
// An engine may also be a Starter or Finisher (it sees a run begin or end), a Seeder (it fixes random numbers), an Executor
// (it may run no tools, and then needs no secrets), an Answerer (it has a journal), a Beginner, or have OwnTime.
//
// All branches of a run use its engine at the same time. Package journal records, replays and resumes runs; package sim
// simulates them.
//
// Session, Invoke, Receipt and Last are for packages whose nodes call tools in turns, such as agents.
package engine
