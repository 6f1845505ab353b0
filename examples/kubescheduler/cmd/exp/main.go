package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/realised"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

func main() {
	only := flag.String("mix", "zones,karpenter,site", "")
	seeds := flag.Int("seeds", 1, "")
	flag.Parse()
	for _, m := range realised.Mixes() {
		if !strings.Contains(","+*only+",", ","+m.Name+",") {
			continue
		}
		for seed := range uint64(*seeds) {
			p, err := m.Problem(seed + 1)
			if err != nil {
				panic(err)
			}
			for _, place := range []scheduling.PlacementPolicy{scheduling.PlacementPinned, scheduling.PlacementFree} {
				t := time.Now()
				planner := provisioning.Planner{Policy: scheduling.Policy{Placement: place}}
				plan, err := planner.Plan(context.Background(), *p)
				if err != nil {
					panic(err)
				}
				took := time.Since(t)
				r, err := planner.Realise(context.Background(), *p, plan)
				if err != nil {
					fmt.Println(err)
					continue
				}
				b := float64(plan.Summary.LowerBoundPerHour)
				fmt.Printf("%-12s %d %-9s planned %.4f realised %.4f worst %.4f (%s)\n", m.Name, seed+1, place, float64(plan.Summary.PricePerHour)/b, float64(r.ExpectedPerHour)/b, float64(r.WorstPerHour)/b, took.Round(time.Millisecond))
			}
		}
	}
}
