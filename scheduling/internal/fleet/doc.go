// Package fleet chooses machines for plans whose pods kube-scheduler places freely. The cheapest machines on
// paper are filled exactly by pods that suit each other; in another order of binding some pods find no room,
// and more machines must be bought for them. So this package judges a set of machines (a fleet) by its
// estimated cost after scheduling: it binds the pods by package binding in several orders, and prices the pods
// that are left over.
//
// It owns this estimate and the search by it. It promises that a fleet keeps limits, reservations and the
// domains that spread constraints need; the estimate itself is a model, because the real order of pods and
// machines is not known.
//
//	problem   machines for sale, pods, and their values
//	courses   orders of pods and machines
//	estimate  the estimated cost of a fleet or of a plan
//	search    other fleets: constructed greedily in the order of pods, then improved by local search
package fleet
