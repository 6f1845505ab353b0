package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// How the cloud behaves.
const (
	bootTime   = time.Minute     // from the order of a machine until its node is ready
	spotNotice = 2 * time.Minute // from the notice until a spot machine is gone
	leastDepth = 3               // machines of one spot offering that there are at least
	mostDepth  = 20              // and at most
)

// cloud sells the machines of a catalog, at prices that move. It implements [controller.Provider].
type cloud struct {
	now       time.Time
	dice      *rand.Rand
	opts      options
	list      *instancetypes.Catalog // at list prices
	sale      *instancetypes.Catalog // at today's
	drift     map[offerings.Key]float64
	depth     map[offerings.Key]int // how many machines of a spot offering there are
	instances map[string]*instance
	sold      int
}

// instance is a machine that was bought.
type instance struct {
	controller.Machine
	ready  time.Time
	joined bool
	gone   time.Time // zero as long as there is no notice
}

// offering is what was bought.
func (i *instance) offering() offerings.Key { return i.Order.Option.Key() }

func newCloud(opts options, catalog *instancetypes.Catalog) *cloud {
	return &cloud{
		now: start(), dice: rand.New(rand.NewPCG(opts.seed, 1)), opts: opts, list: catalog, sale: catalog,
		drift: map[offerings.Key]float64{}, depth: map[offerings.Key]int{}, instances: map[string]*instance{},
	}
}

// Launch buys a machine, or says that there are none left.
func (c *cloud) Launch(_ context.Context, order controller.Order) (string, error) {
	for name, i := range c.instances {
		if i.Order.ID == order.ID {
			return name, nil
		}
	}
	if key := order.Option.Key(); c.scarce(key) {
		return "", fmt.Errorf("%s %s in %s: %w", key.InstanceType, key.CapacityType, key.Zone, controller.ErrInsufficientCapacity)
	}
	c.sold++
	name := fmt.Sprintf("%s-%04d", order.Launch.NodePool, c.sold)
	c.instances[name] = &instance{Machine: controller.Machine{Name: name, Order: order, Created: c.now}, ready: c.now.Add(bootTime)}
	return name, nil
}

// scarce reports whether all machines of an offering are sold.
func (c *cloud) scarce(key offerings.Key) bool {
	if c.opts.steady || key.CapacityType != offerings.Spot {
		return false
	}
	running := 0
	for _, i := range c.instances {
		if i.offering() == key {
			running++
		}
	}
	return running >= c.depth[key]
}

// Machines lists the machines.
func (c *cloud) Machines(context.Context) ([]controller.Machine, error) {
	var out []controller.Machine
	for _, name := range slices.Sorted(maps.Keys(c.instances)) {
		out = append(out, c.instances[name].Machine)
	}
	return out, nil
}

// Terminate gives a machine back; its node goes with it at the next tick.
func (c *cloud) Terminate(_ context.Context, m controller.Machine) error {
	delete(c.instances, m.Name)
	return nil
}

// price is the price of a machine per hour today.
func (c *cloud) price(name string) offerings.Price {
	k := c.instances[name].offering()
	o, _ := c.sale.Lookup(offerings.Key{InstanceType: k.InstanceType, Zone: k.Zone, CapacityType: k.CapacityType})
	return o.Price
}

// interrupt gives notice to spot machines, takes away those whose notice has ended, and returns their numbers.
func (c *cloud) interrupt() (noticed, gone int) {
	for _, name := range slices.Sorted(maps.Keys(c.instances)) {
		i := c.instances[name]
		key := i.offering()
		if key.CapacityType != offerings.Spot {
			continue
		}
		if !i.gone.IsZero() {
			if !c.now.Before(i.gone) {
				gone++
				delete(c.instances, name)
			}
			continue
		}
		o, _ := c.list.Lookup(offerings.Key{InstanceType: key.InstanceType, Zone: key.Zone, CapacityType: key.CapacityType})
		const month = 730 * time.Hour
		if c.dice.Float64() < o.InterruptionRate*c.opts.interruptions*tick.Hours()/month.Hours() {
			noticed++
			i.gone = c.now.Add(spotNotice)
			i.Facts.Interruption = &disruption.Interruption{At: i.gone, Kind: "spot"}
		}
	}
	return noticed, gone
}

// hourly moves the prices of spot, each around its price of the list, and returns the
// offerings whose price has changed.
func (c *cloud) hourly() ([]instancetypes.OfferingChange, error) {
	var changes []instancetypes.OfferingChange
	for t := range c.list.All() {
		for _, o := range t.Offerings {
			if o.CapacityType != offerings.Spot {
				continue
			}
			key := offerings.Key{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType}
			if c.now.Equal(start()) {
				c.depth[key] = leastDepth + c.dice.IntN(mostDepth-leastDepth)
			}
			c.drift[key] = 0.9*c.drift[key] + 0.1*(2*c.dice.Float64()-1)
			factor := 1 + c.opts.noise*math.Max(-1, math.Min(1, 4*c.drift[key]))
			if c.opts.noise > 0 {
				o.Price = offerings.Price(math.Round(float64(o.Price) * factor))
				changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
			}
		}
	}
	sale, err := c.list.WithOfferings(changes...)
	if err != nil {
		return nil, err
	}
	c.sale = sale
	return changes, nil
}
