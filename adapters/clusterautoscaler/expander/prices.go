package expander

import (
	"log/slog"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Prices of resources in nano-USD per hour, for nodes without a price in a catalog. They have the order of magnitude of
// list prices, in the proportions that Cluster Autoscaler's price expander uses: a core is worth some 7 GiB of memory.
const (
	corePrice = 33_000_000
	gibPrice  = 4_500_000
	gpuPrice  = 700_000_000
	// spotPercent is the price of a spot node in per cent of that of the same node on demand.
	spotPercent = 35
)

// mostPrices bounds the prices that are remembered, because template nodes come from clients.
const mostPrices = 4096

// Prices has the prices of nodes by the labels of their instance type, region, zone and capacity type: from a catalog, or
// from the embedded catalog of the node's region. A node without a price there is priced by its CPU, memory and GPUs,
// and its instance type is logged once. Any number of goroutines may use it. The zero value has the embedded catalogs, and no log.
type Prices struct {
	catalog *instancetypes.Catalog // nil for the embedded ones
	changes []instancetypes.Prices
	log     *slog.Logger // nil for none

	mu      sync.Mutex
	regions map[string]*instancetypes.Catalog
	known   map[priceKey]price
}

// priceKey is the labels on which the price of a node depends.
type priceKey struct {
	offering offerings.Key
	region   string
}

// price is the price of a catalog, if it has one.
type price struct {
	perHour offerings.Price
	listed  bool
}

// NewPrices returns the prices of a catalog, or of the embedded catalogs for nil, with changes laid over them in their
// order. log gets the instance types without a price; nil drops them. The error reports every faulty change.
func NewPrices(catalog *instancetypes.Catalog, log *slog.Logger, changes ...instancetypes.Prices) (*Prices, error) {
	priced, err := changed(catalog, changes)
	if err != nil {
		return nil, err
	}
	if catalog == nil {
		priced = nil
	}
	return &Prices{catalog: priced, changes: changes, log: log}, nil
}

// changed is a catalog with changes laid over it in their order.
func changed(c *instancetypes.Catalog, changes []instancetypes.Prices) (*instancetypes.Catalog, error) {
	for _, x := range changes {
		var err error
		if c, _, err = c.WithPrices(x); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// PriceOf implements [Pricer]. A nil node costs nothing.
func (p *Prices) PriceOf(template *corev1.Node) offerings.Price {
	if template == nil {
		return 0
	}
	node := manifest.PaidFor(template)
	key := priceKey{instancetypes.OfferingOf(node), clouds.RegionOf(node)}
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.known[key]
	if !ok {
		var o offerings.Offering
		o, found.listed = p.catalogOf(key.region).LookupNode(node)
		found.perHour = o.Price
		if p.known == nil || len(p.known) >= mostPrices {
			p.known = map[priceKey]price{}
		}
		p.known[key] = found
		if !found.listed && p.log != nil {
			p.log.Warn("no price in the catalog: the node is priced by its CPU and memory", "instanceType", key.offering.InstanceType,
				"region", key.region, "zone", key.offering.Zone, "capacityType", key.offering.CapacityType, "pricePerHour", estimated(node).String())
		}
	}
	if !found.listed {
		return estimated(node) // nodes of one unknown type may differ, e.g. those without a label for it
	}
	return found.perHour
}

// catalogOf is the catalog for nodes of a region; nil if there is none.
func (p *Prices) catalogOf(region string) *instancetypes.Catalog {
	if p.catalog != nil {
		return p.catalog
	}
	c := p.regions[region]
	if c != nil {
		return c
	}
	if c, _ = clouds.OfRegion(region); c == nil {
		return nil
	}
	c, _ = changed(c, p.changes) // NewPrices has refused faulty changes
	if p.regions == nil {
		p.regions = map[string]*instancetypes.Catalog{}
	}
	p.regions[region] = c
	return c
}

// estimated is the price of a node by its capacity.
func estimated(node *corev1.Node) offerings.Price {
	sum := 0.0
	for name, q := range node.Status.Capacity {
		switch {
		case name == corev1.ResourceCPU:
			sum += corePrice * q.AsApproximateFloat64()
		case name == corev1.ResourceMemory:
			sum += gibPrice * q.AsApproximateFloat64() / (1 << 30)
		case strings.HasSuffix(string(name), "/gpu"):
			sum += gpuPrice * q.AsApproximateFloat64()
		}
	}
	if capacityType, _ := manifest.CapacityTypeOf(node); capacityType == offerings.Spot {
		sum *= spotPercent / 100.0
	}
	return offerings.Price(min(sum, float64(offerings.MaxPrice/2)))
}
