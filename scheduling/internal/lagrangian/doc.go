// Package lagrangian proves lower bounds on the price of plans that keep topology spread constraints between
// several classes of pods, by a Lagrangian relaxation of these constraints.
//
// It owns the search for the multipliers and the proof in whole numbers; package bound gives class duals of one
// domain, and package prove translates terms of pods into [Rule]. A rule says that a domain with pods that ask
// for it has at most Skew more counted pods than the emptiest domain. The numbers of pods by domain are open,
// and the classes influence each other.
//
// The relaxation decomposes by domain. Each domain is a market with class duals of its own, and each pod has
// one dual for all domains. A domain that takes a pod gains the pod's dual minus the class dual there; the most
// that it can gain, over all sets of pods and of rules that are asked for, is subtracted from the bound. The
// multipliers of rules move value between domains: a domain with many counted pods, and pods that ask for few,
// pays the domains that must have as many then. A subgradient method optimizes all of them together with a
// convex combination of known class duals; now and then it adds the class duals that are best for the recent
// numbers of pods by domain.
package lagrangian
