// Package expander chooses, among the scale-ups that Cluster Autoscaler considers, the one that costs least for the
// pods that it places.
//
// The autoscaler grows one node group in a round, by the nodes that all pods need which fit the group. A scale-up is
// therefore compared with a plan over all groups: the plan launches for each pod in the group where this is cheapest
// together with the others, and so gives each pod a price, its part of the price of its node. [Chooser.Choose] takes the
// option whose nodes cost least in proportion to the planned price of its pods. E.g. an option of 10 nodes for $2 whose
// pods cost $1.90 in the plan is preferred to one of 2 nodes for $0.40 whose pods cost $0.30 there, because those pods
// have a cheaper place in a later round.
//
//	request.go    the request: options, with the template nodes of their groups
//	choose.go     the choice by price and planned price
//	planned.go    the part of the plan's price that each pod causes
//	problem.go    the options of a request as a problem of package scheduling
//	prices.go     the price of a template node, by its labels
package expander
