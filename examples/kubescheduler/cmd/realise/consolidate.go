package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/realised"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// clusters returns the clusters that the flags name.
func (c *command) clusters() ([]input[disruption.Cluster], error) {
	read := func(s *manifest.Snapshot) disruption.Cluster {
		s.Problem.Now = time.Now().UTC() //nolint:forbidigo // the command is where the time comes from
		return s.Cluster()
	}
	return inputs(c, read, clusterKinds(), func(i int, seed uint64, catalog *instancetypes.Catalog) disruption.Cluster {
		return realised.ClusterKinds()[i].Cluster(seed, catalog)
	})
}

// clusterKinds are the names of the kinds of clusters that can be made up.
func clusterKinds() (names []string) {
	for _, k := range realised.ClusterKinds() {
		names = append(names, k.Name)
	}
	return names
}

// disrupt plans which nodes of clusters go, carries the steps out, and prints how they end.
func (c *command) disrupt(ctx context.Context, stdout io.Writer) error {
	clusters, err := c.clusters()
	if err != nil {
		return err
	}
	var results []realised.StepsResult
	for _, x := range clusters {
		for _, place := range c.places {
			more, err := c.carryOut(ctx, &x, place)
			if err != nil {
				return fmt.Errorf("%s: %w", x.name, err)
			}
			results = append(results, more...)
		}
	}
	if c.asJSON {
		return writeJSON(stdout, results)
	}
	return realised.StepsTable(stdout, results)
}

// carryOut plans for a placement, and carries the steps out in all orders.
func (c *command) carryOut(ctx context.Context, x *input[disruption.Cluster], place scheduling.PlacementPolicy) ([]realised.StepsResult, error) {
	planner := c.planner(place)
	plan, err := disruption.Planner{Policy: planner.Policy}.Plan(ctx, x.value)
	if err != nil {
		return nil, fmt.Errorf("planning: %w", err)
	}
	steps := realised.Steps{Cluster: &x.value, Plan: plan, Planner: planner}
	var results []realised.StepsResult
	for order := range uint64(c.orders) { //nolint:gosec // it is positive
		outcome, err := steps.Run(ctx, order)
		if err != nil {
			return nil, fmt.Errorf("%s, order %d: %w", strings.ToLower(string(place)), order, err)
		}
		results = append(results, realised.StepsResult{Cluster: x.name, Plan: strings.ToLower(string(place)), Order: order, StepsOutcome: *outcome})
	}
	return results, nil
}
