// Command peers solves the same problems with Karpenter's scheduler, with textbook
// heuristics, with an imitation of Cluster Autoscaler and with Plimsoll, one after the
// other in one run, and writes a Markdown table of what each decided and what it took.
//
//	go run .                        price over the proven bound, and what it took
//	go run . -report speed          time and memory beside Karpenter's
//	go run . -report growth         time against pods, classes, types and pools
//	go run . -report consolidation  what removing nodes saves, and moves for it
//	go run . -random 2000 -seed 1   random problems: who places fewer pods, or pays more
//
// Every plan is judged by package verify outside the timer. It is a module of its own, so
// that who uses the library does not get Karpenter with it. README.md has the flags and what
// the columns mean.
package main
