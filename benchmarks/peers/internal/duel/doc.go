// Package duel lets two planners solve many small random problems whose pods have affinity,
// spread constraints and volumes. It reports which planner places more pods, and which pays
// less where both place the same pods.
//
// scheduling/verify judges the other planner's decisions like our own plans. A machine to
// which kube-scheduler would not bind the planned pods counts as not placing them; these
// decisions are counted by the rule that they break.
package duel
