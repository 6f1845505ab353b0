package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/realised"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// cluster is a cluster with a name.
type cluster struct {
	name string
	disruption.Cluster
}

// clusters are what the flags name.
func (c *command) clusters() ([]cluster, error) {
	catalog, err := c.sold()
	if err != nil {
		return nil, fmt.Errorf("-catalog %q: %w", c.catalog, err)
	}
	if len(c.files) > 0 {
		s, err := c.load(catalog)
		if err != nil {
			return nil, err
		}
		s.Problem.Now = time.Now().UTC() //nolint:forbidigo // the command is where the time comes from
		return []cluster{{strings.Join(c.files, " "), s.Cluster()}}, nil
	}
	var out []cluster
	for _, k := range realised.ClusterKinds() {
		if len(c.mixes) > 0 && !slices.Contains(c.mixes, k.Name) {
			continue
		}
		for seed := range uint64(c.seeds) { //nolint:gosec // it is positive
			out = append(out, cluster{fmt.Sprintf("%s/%d", k.Name, seed+1), k.Cluster(seed+1, catalog)})
		}
	}
	return out, nil
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
func (c *command) carryOut(ctx context.Context, x *cluster, place scheduling.PlacementPolicy) ([]realised.StepsResult, error) {
	planner := c.planner(place)
	plan, err := disruption.Planner{Policy: planner.Policy}.Plan(ctx, x.Cluster)
	if err != nil {
		return nil, fmt.Errorf("planning: %w", err)
	}
	steps := realised.Steps{Cluster: &x.Cluster, Plan: plan, Planner: planner}
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
