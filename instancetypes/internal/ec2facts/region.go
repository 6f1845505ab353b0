package ec2facts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Region is what a region sells.
type Region struct {
	// Name is the region, such as "us-east-1".
	Name string
	// Zones lists its availability zones, in order of letter.
	Zones []Zone
	// FreshDate is the day of the fresher price list, as YYYY-MM-DD; empty if there
	// is none for this region.
	FreshDate string
	// Rows holds what is sold, in order of type.
	Rows []Row
}

// Zone is an availability zone.
type Zone struct {
	// Letter ends the zone's name: zone "us-east-1a" has letter 'a'.
	Letter byte
	// ID is the zone id, such as "use1-az1"; empty if it is not known.
	ID string
}

// PriceList tells which list an on-demand price stands in.
type PriceList string

// The lists.
const (
	// OlderList is that of the source which covers all regions.
	OlderList PriceList = ""
	// FresherList is newer and covers few regions.
	FresherList PriceList = "f"
	// DedicatedList is the fresher list's price of a bare-metal machine, which is that
	// of dedicated tenancy and above what shared tenancy costs.
	DedicatedList PriceList = "d"
)

// Row is how a region sells one type.
type Row struct {
	// Type is the instance type.
	Type string
	// OnDemand is the price of a machine on demand, and List where it stands.
	OnDemand offerings.Price
	List     PriceList
	// Zones holds the letters of the zones that sell the type, ascending.
	Zones string
	// Assumed tells that the zones are a guess, because no source lists them.
	Assumed bool
	// Spot lists spot prices, ascending: one for each zone as far as they go.
	Spot []offerings.Price
	// Band is the interruption band of spot machines, 1 to 5; 0 if not known.
	Band Band
}

// Table writes the region as a table.
func (g Region) Table() (*compact.Table, error) {
	if err := g.validate(); err != nil {
		return nil, err
	}
	unit := g.spotUnit()
	columns := [7][]string{}
	for i := range columns {
		columns[i] = make([]string, len(g.Rows))
	}
	for i, row := range g.Rows {
		units := make([]int64, len(row.Spot))
		for j, p := range row.Spot {
			units[j] = int64(p / unit)
		}
		spot, ok := compact.Ascending(units)
		if !ok {
			return nil, fmt.Errorf("region %s: %s: spot prices %v do not ascend", g.Name, row.Type, row.Spot)
		}
		columns[0][i] = row.Type
		columns[1][i] = row.OnDemand.String()
		columns[2][i] = string(row.List)
		columns[3][i] = row.Zones
		if row.Assumed {
			columns[4][i] = "1"
		}
		columns[5][i] = spot
		if row.Band != 0 {
			columns[6][i] = strconv.Itoa(int(row.Band))
		}
	}
	zones := make([]string, len(g.Zones))
	for i, z := range g.Zones {
		zones[i] = string(z.Letter) + z.ID
	}
	t := &compact.Table{Facts: []compact.Fact{
		{Key: "region", Value: g.Name},
		{Key: "zones", Value: strings.Join(zones, " ")},
		{Key: "freshdate", Value: g.FreshDate},
		{Key: "spotunit", Value: unit.String()},
	}}
	for i, name := range regionColumns() {
		t.Columns = append(t.Columns, compact.Column{Name: name, Cells: columns[i]})
	}
	return t, nil
}

func regionColumns() [7]string {
	return [7]string{"type", "ondemand", "list", "zones", "assumed", "spot", "band"}
}

// spotUnit returns the largest power of ten, in USD and at most 1, that divides
// every spot price: prices in that unit are short whole numbers.
func (g Region) spotUnit() offerings.Price {
	unit := offerings.Price(1_000_000_000)
	for _, row := range g.Rows {
		for _, p := range row.Spot {
			for p%unit != 0 {
				unit /= 10
			}
		}
	}
	return unit
}

// ReadRegion is the inverse of [Region.Table].
func ReadRegion(t *compact.Table) (Region, error) {
	r := compact.NewReader(t)
	names := regionColumns()
	g := Region{Name: r.Fact("region"), FreshDate: r.Fact("freshdate"), Rows: make([]Row, t.Rows())}
	zones, unitText := r.Fact("zones"), r.Fact("spotunit")
	types, onDemand, lists, letters := r.Text(names[0]), r.Text(names[1]), r.Text(names[2]), r.Text(names[3])
	assumed, spot, bands := r.Ints(names[4]), r.Ascending(names[5]), r.Ints(names[6])
	if err := r.Err(); err != nil {
		return Region{}, fmt.Errorf("region prices: %w", err)
	}
	unit, err := offerings.ParsePrice(unitText)
	if err != nil {
		return Region{}, fmt.Errorf("region %s: spotunit: %w", g.Name, err)
	}
	for zone := range strings.FieldsSeq(zones) {
		g.Zones = append(g.Zones, Zone{Letter: zone[0], ID: zone[1:]})
	}
	for i := range g.Rows {
		price, err := offerings.ParsePrice(onDemand[i])
		if err != nil {
			return Region{}, fmt.Errorf("region %s: %s: %w", g.Name, types[i], err)
		}
		row := Row{
			Type: types[i], OnDemand: price, List: PriceList(lists[i]), Zones: letters[i],
			Assumed: assumed[i] != 0, Band: Band(min(bands[i], int64(BandTop)+1)),
		}
		for _, n := range spot[i] {
			price, ok := unit.Times(n)
			if !ok {
				return Region{}, fmt.Errorf("region %s: %s: spot price of %d units of %v is too large", g.Name, types[i], n, unit)
			}
			row.Spot = append(row.Spot, price)
		}
		g.Rows[i] = row
	}
	if err := g.validate(); err != nil {
		return Region{}, err
	}
	return g, nil
}
