// Package fleet chooses machines whose price holds where kube-scheduler binds the pods as it
// likes. The cheapest machines on paper are full of pods that fill each other; bound in
// another order they leave some out, for which more machines have to be bought. So fleets are
// judged by what they come to: the pods are bound by package binding in several orders, and
// what is left over is priced.
//
//	problem   what may be bought, and what pods are worth
//	courses   orders of pods and machines
//	estimate  what a fleet or a plan is estimated to come to
//	search    other fleets: built of machines that are filled as pods come, then exchanged
package fleet
