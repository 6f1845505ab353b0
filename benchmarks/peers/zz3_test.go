package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// ZZ="-corpora x -pods 1000 -markets ec2 -buy spot" E=1,1000 R=3
func TestZZ(t *testing.T) {
	s, err := parse(strings.Fields(os.Getenv("ZZ")), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.instances()
	if err != nil {
		t.Fatal(err)
	}
	es, _ := numbers(os.Getenv("E"))
	reps := 1
	fmt.Sscan(os.Getenv("R"), &reps)
	for _, in := range all {
		for _, e := range es {
			var plan *scheduling.Plan
			best := time.Hour
			for range reps {
				at := time.Now()
				plan, err = scheduling.Solver{Effort: scheduling.Effort(e), Weights: scheduling.WeightIgnore}.Solve(t.Context(), in.Problem)
				if err != nil {
					t.Fatal(err)
				}
				best = min(best, time.Since(at))
			}
			k, n := "-", 0
			if c := plan.Summary.Certificate; c != nil {
				k, n = c.Kind, len(c.Values)
			}
			fmt.Printf("%-40s e=%-6d %9.1fms nodes %4d price %9.3f bound %9.3f gap %.3f%% %s %d\n", in.Name, e, float64(best.Microseconds())/1000, plan.Summary.Nodes, plan.Summary.PricePerHour.USD(), plan.Summary.LowerBoundPerHour.USD(), 100*plan.Summary.Gap, k, n)
		}
	}
}
