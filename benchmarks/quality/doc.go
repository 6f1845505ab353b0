// Command quality measures how good plans are on problems that nobody tuned for:
//
//	go run ./benchmarks/quality -every 40 vectorpack CHECKOUT
//	go run ./benchmarks/quality -count 30 mixes
//	go run ./benchmarks/quality -count 30 rounds
//	go run ./benchmarks/quality -count 6 clusters
//	go run ./benchmarks/quality -count 100 efforts
//	go run ./benchmarks/quality -count 16 commitments
//
// vectorpack packs the instances of "Classification and evaluation of the algorithms for
// vector bin packing" (Computers & Operations Research, 2025), from a checkout of
// https://github.com/Vectorpack/experiments_vector_paper, and compares with the optima and the
// results of heuristics that are published there. mixes plans random pods for NodePools of
// embedded catalogs. rounds plans pods of a few round sizes. clusters consolidates clusters as many users have them, one at a time.
// efforts plans problems of these three kinds with fast, default and thorough effort, and ends with exit code 1 where more effort is
// dearer. commitments plans mixes and round sizes on demand under a savings plan and reserved instances that are worth 30 % of the
// list prices, and compares the bill with a lower bound. Every
// plan is checked by package verify; a wrong one ends the command with exit code 1.
package main

// A map of this package's files.
//
//	main.go        flags, and the solve that both share
//	vectorpack.go  published instances of vector bin packing
//	mixes.go       random pods, NodePools and catalogs, and round sizes
//	clusters.go    clusters as many users have them, consolidated
//	efforts.go     whether more effort is ever dearer
//	commitments.go bills under commitments
