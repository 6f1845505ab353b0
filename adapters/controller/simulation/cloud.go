package simulation

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
	leastDepth = 3               // machines of one scarce offering that there are at least
	mostDepth  = 20              // and fewer than
)

// Cloud sells the machines of a catalog. It implements [controller.Provider].
type Cloud struct {
	// Instances are the machines that run or start, by name, which is also the name of the node.
	Instances map[string]*Instance
	// Interruptions is the number of notices so far.
	Interruptions int

	now   time.Time
	dice  *rand.Rand
	opts  Options
	sale  *instancetypes.Catalog // at the prices of now
	drift map[offerings.Key]float64
	depth map[offerings.Key]int // the machines of a scarce offering that there are
	sold  int
}

// Instance is a machine that was launched.
type Instance struct {
	Machine controller.Machine
	// Joined says that it has had a node.
	Joined bool

	ready time.Time
	gone  time.Time // zero without a notice
}

// offering is the offering of the machine.
func (i *Instance) offering() offerings.Key { return i.Machine.Order.Option.Key() }

func newCloud(opts Options) *Cloud {
	return &Cloud{
		now: Start(), dice: rand.New(rand.NewPCG(opts.Seed, 1)), opts: opts, sale: opts.Catalog,
		drift: map[offerings.Key]float64{}, depth: map[offerings.Key]int{}, Instances: map[string]*Instance{},
	}
}

// Launch implements [controller.Provider].
func (c *Cloud) Launch(_ context.Context, order controller.Order) (string, error) {
	for name, i := range c.Instances {
		if i.Machine.Order.ID == order.ID {
			return name, nil
		}
	}
	if key := order.Option.Key(); c.soldOut(key) {
		return "", fmt.Errorf("%s %s in %s: %w", key.InstanceType, key.CapacityType, key.Zone, controller.ErrInsufficientCapacity)
	}
	c.sold++
	name := fmt.Sprintf("%s-%04d", order.Launch.NodePool, c.sold)
	c.Instances[name] = &Instance{Machine: controller.Machine{Name: name, Order: order, Created: c.now}, ready: c.now.Add(bootTime)}
	return name, nil
}

// Launched is the number of machines so far.
func (c *Cloud) Launched() int { return c.sold }

// soldOut reports whether all machines of an offering run.
func (c *Cloud) soldOut(key offerings.Key) bool {
	if !c.opts.Scarce || key.CapacityType != offerings.Spot {
		return false
	}
	running := 0
	for _, i := range c.Instances {
		if i.offering() == key {
			running++
		}
	}
	return running >= c.depth[key]
}

// Machines implements [controller.Provider].
func (c *Cloud) Machines(context.Context) ([]controller.Machine, error) {
	var out []controller.Machine
	for _, name := range slices.Sorted(maps.Keys(c.Instances)) {
		out = append(out, c.Instances[name].Machine)
	}
	return out, nil
}

// Terminate implements [controller.Provider]. The node is deleted by the next Advance.
func (c *Cloud) Terminate(_ context.Context, m controller.Machine) error {
	delete(c.Instances, m.Name)
	return nil
}

// Price is the price of a machine per hour now; 0 for a machine that is gone.
func (c *Cloud) Price(name string) offerings.Price {
	i := c.Instances[name]
	if i == nil {
		return 0
	}
	k := i.offering()
	o, _ := c.sale.Lookup(offerings.Key{InstanceType: k.InstanceType, Zone: k.Zone, CapacityType: k.CapacityType})
	return o.Price
}

// interrupt gives notice to spot machines, and takes away those whose notice has ended.
func (c *Cloud) interrupt() {
	for _, name := range slices.Sorted(maps.Keys(c.Instances)) {
		i := c.Instances[name]
		key := i.offering()
		if key.CapacityType != offerings.Spot {
			continue
		}
		if !i.gone.IsZero() {
			if !c.now.Before(i.gone) {
				delete(c.Instances, name)
			}
			continue
		}
		o, _ := c.opts.Catalog.Lookup(offerings.Key{InstanceType: key.InstanceType, Zone: key.Zone, CapacityType: key.CapacityType})
		const month = 730 * time.Hour
		if c.dice.Float64() < o.InterruptionRate*c.opts.Interruptions*c.opts.Tick.Hours()/month.Hours() {
			c.Interruptions++
			i.gone = c.now.Add(spotNotice)
			i.Machine.Facts.Interruption = &disruption.Interruption{At: i.gone, Kind: "spot"}
		}
	}
}

// hourly moves the prices of spot, each around its price of the list, and sets how scarce offerings are at first.
func (c *Cloud) hourly() error {
	var changes []instancetypes.OfferingChange
	for t := range c.opts.Catalog.All() {
		for _, o := range t.Offerings {
			if o.CapacityType != offerings.Spot {
				continue
			}
			key := offerings.Key{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType}
			if c.now.Equal(Start()) {
				c.depth[key] = leastDepth + c.dice.IntN(mostDepth-leastDepth)
			}
			c.drift[key] = 0.9*c.drift[key] + 0.1*(2*c.dice.Float64()-1)
			factor := 1 + c.opts.Noise*math.Max(-1, math.Min(1, 4*c.drift[key]))
			if c.opts.Noise > 0 {
				o.Price = offerings.Price(math.Round(float64(o.Price) * factor))
				changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
			}
		}
	}
	if len(changes) == 0 {
		return nil
	}
	sale, err := c.opts.Catalog.WithOfferings(changes...)
	if err != nil {
		return err
	}
	c.sale = sale
	if c.opts.Repriced == nil {
		return nil
	}
	return c.opts.Repriced(changes...)
}
