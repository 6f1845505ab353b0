package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// ledger counts events of the simulation and records prices over time.
type ledger struct {
	points []point
	log    []entry // the steps that were carried out

	unplaced   int             // pods that a plan had no node for
	lowerBound offerings.Price // of the last plan of disruption
}

// entry is a step that was carried out.
type entry struct {
	at   time.Time
	step disruption.Step
}

// point is the cluster at one time. Prices are per hour; below the bound no cluster could
// hold the same pods.
type point struct {
	at                   time.Time
	price, bound         offerings.Price
	nodes, pods, pending int
}

// print writes the totals.
func (l *loop) print(w io.Writer) {
	var cost, bound, waited float64
	nodes, pods := 0, 0
	stats, cluster := l.controller.Stats(), l.world.Cluster
	for _, p := range l.ledger.points {
		cost += p.price.USD() * tick.Hours()
		bound += p.bound.USD() * tick.Hours()
		waited += float64(p.pending) * tick.Seconds()
		nodes, pods = max(nodes, p.nodes), max(pods, p.pods)
	}
	steps := map[disruption.Reason]int{}
	for _, e := range l.ledger.log {
		steps[e.step.Reason]++
	}
	var reasons []string
	for reason, n := range steps {
		reasons = append(reasons, fmt.Sprintf("%s %d", reason, n))
	}
	slices.Sort(reasons)
	fmt.Fprintf(w, "up to %d pods on up to %d nodes\n", pods, nodes)
	fmt.Fprintf(w, "paid           %9.2f USD", cost)
	if bound > 0 {
		fmt.Fprintf(w, ", at most %.1f%% above the cheapest possible", 100*(cost/bound-1))
	}
	fmt.Fprintf(w, "\nlaunches       %9d, and %d refused for lack of capacity\n", stats.Launched, stats.CapacityFailures)
	fmt.Fprintf(w, "interruptions  %9d, which killed %d pods\n", l.world.Cloud.Interruptions, cluster.Killed)
	fmt.Fprintf(w, "steps          %9d: %s; %d abandoned\n", len(l.ledger.log), strings.Join(reasons, ", "), stats.AbandonedSteps)
	fmt.Fprintf(w, "pods moved     %9d, none more than %d times\n", stats.Evictions, l.most())
	fmt.Fprintf(w, "pods waited    %9.0f s on average, until they ran\n", waited/float64(max(1, len(cluster.Waits))))
	if l.ledger.unplaced > 0 {
		fmt.Fprintf(w, "no node        %9d times for a pod\n", l.ledger.unplaced)
	}
}

// most is how often the pod was moved that was moved most often.
func (l *loop) most() int {
	most := 0
	for _, n := range l.world.Cluster.Evicted {
		most = max(most, n)
	}
	return most
}
