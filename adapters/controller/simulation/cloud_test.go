package simulation

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// options are scarce spot machines of 8 cores, whose prices move and which are all interrupted at once.
func options(t *testing.T) Options {
	t.Helper()
	narrow, err := instancetypes.ParseFilter("category in (c m),generation=7,arch=amd64,cpu=8,zone in (us-east-1a us-east-1b us-east-1d)")
	require.NoError(t, err)
	catalog := ec2.MustCatalog("us-east-1").Filter(narrow)
	require.Positive(t, catalog.Len())
	return Options{Seed: 1, Catalog: catalog, Tick: 30 * time.Second, Noise: 0.02, Interruptions: 1e6, Scarce: true, Services: Services(), JobsPerDay: 8}
}

func TestCloud(t *testing.T) {
	opts := options(t)
	var changes []instancetypes.OfferingChange
	opts.Repriced = func(c ...instancetypes.OfferingChange) error {
		changes = c
		return nil
	}
	c := newCloud(opts)
	require.NoError(t, c.hourly())
	require.NotEmpty(t, changes)
	for _, change := range changes {
		list, ok := opts.Catalog.Lookup(offerings.Key{InstanceType: change.InstanceType, Zone: change.Zone, CapacityType: change.CapacityType})
		require.True(t, ok)
		require.InDelta(t, list.Price.USD(), change.Price.USD(), list.Price.USD()*opts.Noise+1e-9)
	}
	order := controller.Order{Option: scheduling.LaunchOption{InstanceType: changes[0].InstanceType, Zone: changes[0].Zone, CapacityType: changes[0].CapacityType}}
	order.Launch.NodePool = "p"
	for {
		order.ID = fmt.Sprint(c.Launched())
		if _, err := c.Launch(t.Context(), order); errors.Is(err, controller.ErrInsufficientCapacity) {
			break
		}
		again, err := c.Launch(t.Context(), order)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("p-%04d", c.Launched()), again)
	}
	require.Equal(t, c.depth[order.Option.Key()], c.Launched())
	require.Equal(t, changes[0].Price, c.Price("p-0001"))
	c.interrupt()
	require.Equal(t, c.Launched(), c.Interruptions)
	require.Len(t, c.Instances, c.Launched())
	c.now = c.now.Add(spotNotice)
	c.interrupt()
	require.Empty(t, c.Instances)
	_, err := c.Launch(t.Context(), order)
	require.NoError(t, err, "a machine that is taken away can be launched again")
}
