package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// How the cloud behaves.
const (
	bootTime   = time.Minute     // from the order of a machine until its node is ready
	spotNotice = 2 * time.Minute // from the notice until a spot machine is gone
	leastDepth = 3               // machines of one spot offering that there are at least
	mostDepth  = 20              // and at most
)

// errNoCapacity is the cloud's answer when an offering has run out.
var errNoCapacity = errors.New("insufficient capacity")

// cloud sells the machines of a catalog, at prices that move.
type cloud struct {
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
	offering offerings.Key
	ready    time.Time
	gone     time.Time // zero as long as there is no notice
}

func newCloud(opts options, catalog *instancetypes.Catalog) *cloud {
	return &cloud{
		dice: rand.New(rand.NewPCG(opts.seed, 1)), opts: opts, list: catalog, sale: catalog,
		drift: map[offerings.Key]float64{}, depth: map[offerings.Key]int{}, instances: map[string]*instance{},
	}
}

// launch buys a machine and returns its name, or says that there are none left.
func (c *cloud) launch(pool string, o *scheduling.LaunchOption, now time.Time) (string, error) {
	key := o.Key()
	if c.scarce(key) {
		return "", fmt.Errorf("%s %s in %s: %w", o.InstanceType, o.CapacityType, o.Zone, errNoCapacity)
	}
	c.sold++
	name := fmt.Sprintf("%s-%04d", pool, c.sold)
	c.instances[name] = &instance{offering: key, ready: now.Add(bootTime)}
	return name, nil
}

// scarce reports whether all machines of an offering are sold.
func (c *cloud) scarce(key offerings.Key) bool {
	if c.opts.steady || key.CapacityType != offerings.Spot {
		return false
	}
	running := 0
	for _, i := range c.instances {
		if i.offering == key {
			running++
		}
	}
	return running >= c.depth[key]
}

// terminate gives a machine back.
func (c *cloud) terminate(name string) { delete(c.instances, name) }

// price is the price of a machine per hour today.
func (c *cloud) price(name string) offerings.Price {
	k := c.instances[name].offering
	o, _ := c.sale.Lookup(offerings.Key{InstanceType: k.InstanceType, Zone: k.Zone, CapacityType: k.CapacityType})
	return o.Price
}

// interrupt gives notice to spot machines and returns their names, and the names of the
// machines whose notice has ended.
func (c *cloud) interrupt(now time.Time) (noticed, gone []string) {
	for _, name := range slices.Sorted(maps.Keys(c.instances)) {
		i := c.instances[name]
		if i.offering.CapacityType != offerings.Spot {
			continue
		}
		if !i.gone.IsZero() {
			if !now.Before(i.gone) {
				gone = append(gone, name)
			}
			continue
		}
		o, _ := c.list.Lookup(offerings.Key{InstanceType: i.offering.InstanceType, Zone: i.offering.Zone, CapacityType: i.offering.CapacityType})
		const month = 730 * time.Hour
		if c.dice.Float64() < o.InterruptionRate*c.opts.interruptions*tick.Hours()/month.Hours() {
			i.gone = now.Add(spotNotice)
			noticed = append(noticed, name)
		}
	}
	return noticed, gone
}

// hourly moves the prices of spot, each around its price of the list, and returns the
// offerings whose price has changed.
func (c *cloud) hourly(now time.Time) ([]instancetypes.OfferingChange, error) {
	var changes []instancetypes.OfferingChange
	for t := range c.list.All() {
		for _, o := range t.Offerings {
			if o.CapacityType != offerings.Spot {
				continue
			}
			key := offerings.Key{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType}
			if now.Equal(start()) {
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
