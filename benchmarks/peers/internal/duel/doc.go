// Package duel sets two planners against each other on many small random problems in
// which pods are tied to each other and to volumes, and says who places more, and who
// pays less where both place the same pods.
//
// What the other planner decides is judged by scheduling/verify like a plan of ours. A
// machine that it plans and on which kube-scheduler would not bind the pods wins nothing:
// such decisions are counted by the rule that they break.
package duel
