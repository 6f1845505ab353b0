// Package lagrangian proves lower bounds on the price of plans that keep rules of topology spread,
// by a Lagrangian relaxation of what the rules ask.
//
// Pods may want to be only where not many more of some other pods are than in any other domain
// ([Problem]). Where those are, and which of them want that, hangs together. So each
// domain gets worths of its own, by a market of its own, and pods pay something wherever they
// are. A domain that takes pods has what they pay, less what they are worth there; what it
// has at most, whichever pods it takes and by whichever rules these live, is lost to the
// bound. Domains owe each other for counted pods: those in which many are, beside pods that
// want few, pay those in which there must be as many then. All these prices are sought by
// subgradients, together with mixtures of worths that machines are known to bear; the worths
// that are best for the pods that domains took of late join them now and then.
package lagrangian
