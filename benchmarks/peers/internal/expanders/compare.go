package expanders

import (
	"context"
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/autoscaler"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/report"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Sum is the results of one planner on several clusters of one size, added up.
type Sum struct {
	Groups, Pods, Clusters int
	Peer                   string
	Nodes                  int
	Price                  offerings.Price
}

// peers are the expanders, least-waste first, and a plan over all groups that the autoscaler could not carry out.
func peers() []peer.Peer {
	out := []peer.Peer{
		autoscaler.Peer{Expander: autoscaler.LeastWaste}, autoscaler.Peer{Expander: autoscaler.Price}, autoscaler.Peer{Expander: autoscaler.Plimsoll},
	}
	for _, p := range planner.All() {
		if p.Name() == "plimsoll fast" {
			out = append(out, p)
		}
	}
	return out
}

// Compare has each expander scale up a number of clusters with each number of groups, from a seed on. A wrong outcome is
// an error, and so is one without a place for each pod.
func Compare(ctx context.Context, groups []int, pods, clusters int, seed uint64, o peer.Options) ([]Sum, error) {
	var sums []Sum
	for _, n := range groups {
		for _, p := range peers() {
			sum := Sum{Groups: n, Pods: pods, Clusters: clusters, Peer: p.Name()}
			for i := range clusters {
				problem, err := Cluster(n, pods, seed+uint64(i))
				if err != nil {
					return nil, err
				}
				r, _, err := peer.Measure(ctx, p, fmt.Sprintf("%d groups, seed %d", n, seed+uint64(i)), problem, o)
				switch {
				case err != nil:
					return nil, err
				case ctx.Err() != nil:
					return nil, ctx.Err()
				case r.Placed != pods:
					return nil, fmt.Errorf("%s places %d of %d pods of %s", r.Peer, r.Placed, pods, r.Instance)
				}
				sum.Nodes, sum.Price = sum.Nodes+r.Nodes, offerings.Sum(sum.Price, r.Price)
			}
			sums = append(sums, sum)
		}
	}
	return sums, nil
}

// Table has a line for each expander and number of groups.
func Table(sums []Sum) string {
	var b strings.Builder
	b.WriteString(report.Head("node groups:", "clusters:", "pods each:", "expander", "nodes:", "$/h:", "against least-waste:"))
	var least offerings.Price
	for _, s := range sums {
		name := strings.TrimPrefix(s.Peer, "autoscaler ")
		switch name {
		case "least-waste":
			least = s.Price
		case s.Peer:
			name = "none: a plan over all groups"
		}
		b.WriteString(report.Line(s.Groups, s.Clusters, s.Pods, name, s.Nodes, fmt.Sprintf("%.2f", s.Price.USD()), fmt.Sprintf("%+.1f %%", 100*(s.Price.USD()/least.USD()-1))))
	}
	return b.String()
}
