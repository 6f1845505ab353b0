// Package steer is a kube-scheduler plugin that sends pods to the nodes that a
// Plimsoll plan chose for them.
//
// A plan promises that its pods fit its machines, each where it was put. kube-scheduler
// does not know the plan: it takes the node that scores best, can put the first pod where a
// later one was meant to go, and the later one then fits no node. With this plugin a
// planned pod goes to its planned node or waits for it. Everything else works as usual:
// all default filters still apply, and pods that the plan does not name are
// scheduled as ever.
//
//	registry := frameworkruntime.Registry{steer.Name: steer.New(steer.FromPlan(plan))}
//
// # How a pod finds its machine
//
// Running nodes are known by name. A machine that has yet to be bought has no name, but
// its launch has one, so the buyer of the machine must put the name of the launch on the
// node as the label [LaunchLabel]: in the user data of the machine, or with Karpenter
// among the labels of the NodeClaim, which it hands on to the node.
//
// # Which extension points it uses
//
// PreFilter names the one node that remains. Every other filter then looks at that
// node alone, so that steering makes scheduling cheaper. A pod whose machine has not
// joined is unschedulable, and is woken when the node joins or gets its label.
package steer
