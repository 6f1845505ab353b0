package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func main() {
	only := flag.String("corpora", "microservices,thirty-sizes,random-sizes,big-memory,ci,ci-large", "")
	n := flag.Int("pods", 1000, "")
	seed := flag.Uint64("seed", 1, "")
	way := flag.String("way", "on-demand", "")
		flag.Parse()
	m, err := corpus.EC2("us-east-1")
	if err != nil {
		panic(err)
	}
	for _, c := range corpus.All() {
		if !strings.Contains(","+*only+",", ","+c.Name+",") {
			continue
		}
		in, err := c.Instance(m, *way, *n, *seed)
		if err != nil {
			panic(err)
		}
		e, err := provisioning.NewExp(in.Problem, scheduling.Policy{})
		if err != nil {
			panic(err)
		}
		bound := 0.0
		var plans []*scheduling.Plan
		show := func(name string, plan *scheduling.Plan) {
			if bound == 0 {
				bound = float64(plan.Summary.LowerBoundPerHour)
			}
			fmt.Printf("%-22s %-12s planned %.4f nodes %d ", c.Name, name, float64(plan.Summary.PricePerHour)/bound, plan.Summary.Nodes)
			t := time.Now()
			for _, b := range []int{1, 6} {
				sum := 0.0
				for s := range uint64(4) {
					x, _, r := e.Realise(plan, s+10, b)
					fmt.Printf(" %.4f/%d", float64(x)/bound, r)
					sum += float64(x) / bound
				}
				fmt.Printf(" = %.4f |", sum/4)
			}
			fmt.Printf(" %v\n", time.Since(t).Round(time.Millisecond))
		}
		run := func(name string, p scheduling.Problem, s scheduling.Policy) {
			t := time.Now()
			plan, err := provisioning.Planner{Policy: s}.Plan(context.Background(), p)
			took := time.Since(t)
			if err != nil {
				panic(err)
			}
			if len(plan.Unschedulable) == 0 {
				plans = append(plans, plan)
			}
			fmt.Printf("%6dms ", took.Milliseconds())
			if err := verify.Plan(p, plan); err != nil {
				fmt.Println("VERIFY", err)
			}
			if r := plan.Summary.Realised; r != nil {
				fmt.Printf("[%.4f %.4f %d] ", float64(r.ExpectedPerHour)/bound, float64(r.WorstPerHour)/bound, r.PodsElsewhere)
			}
			show(name, plan)
		}
		run("tight", in.Problem, scheduling.Policy{})
		run("free", in.Problem, scheduling.Policy{Placement: scheduling.PlacementFree})
		run("fast", in.Problem, scheduling.Policy{Effort: scheduling.EffortFast})
		run("fast free", in.Problem, scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree})
	}
}
