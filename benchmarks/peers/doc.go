// Command peers solves the same problems with Karpenter's scheduler, with textbook
// heuristics, with an imitation of Cluster Autoscaler and with Plimsoll, one after the
// other in one run, and writes a Markdown table of prices, times and memory.
//
//	go run .                        price over the proven bound, time and memory
//	go run . -report speed          time and memory beside Karpenter's
//	go run . -report growth         time against pods, classes, types and pools
//	go run . -report consolidation  savings of consolidation, and pods evicted for them
//	go run . -random 2000 -seed 1   random problems: who places fewer pods, or pays more
//
// Package verify judges every plan outside the timer. The command is a module of its own,
// because the library's users must not get Karpenter as a dependency. README.md has the
// flags and the meaning of the columns.
package main
