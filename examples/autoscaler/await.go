package main

import (
	"maps"
	"slices"
)

// await notes that pods wait for a node on its way, so that nobody plans them again before
// it is there: a second plan may be another one, and buy another machine.
func (l *loop) await(pods []string, node string) {
	for _, pod := range pods {
		l.awaited[pod] = node
	}
}

// settle binds the pods whose node has come, and reports whether there are others that wait
// for nothing: new ones, and those whose node will not come or has no room for them any more.
func (l *loop) settle() (unplanned bool) {
	for _, name := range slices.Sorted(maps.Keys(l.cluster.pods)) {
		pod, node := l.cluster.pods[name], l.awaited[name]
		switch {
		case pod.Spec.NodeName != "":
		case !l.cluster.open(node):
			unplanned = true
		case !l.cluster.ready(node):
		case !l.fits(pod, node):
			unplanned = true
		default:
			l.cluster.bind(name, node, l.now)
			l.ledger.bound++
		}
	}
	return unplanned
}
