package ec2data

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

// zoneID matches a zone id: a code for the region and the number of the zone.
var zoneID = regexp.MustCompile(`^[a-z0-9]+-az(\d+)$`)

// unlistedZones are the zones of a region about which the source says nothing. Every
// region has three at least.
const unlistedZones = "abc"

// regionZones knows which zones a region has.
type regionZones struct {
	region string
	list   []facts.Zone
	// usual holds the zones that sell most of the newer types.
	usual string
}

// zonesOf collects the zones of a region. AWS deals out the names of zones to every
// account differently, and only ids mean the same to all; here the zone with number
// n in its id has the nth letter.
func (b *builder) zonesOf(region string) (regionZones, error) {
	ids := map[byte]string{}
	newest, types, sold := 0, 0, map[byte]int{}
	for _, i := range b.Instances {
		list := i.Zones[region]
		if len(list) == 0 {
			continue
		}
		if generation := generationOf(i.Name); generation > newest {
			newest, types, sold = generation, 0, map[byte]int{}
		}
		isNewest := generationOf(i.Name) == newest
		if isNewest {
			types++
		}
		for _, id := range list {
			letter, err := zoneLetter(id)
			if err != nil {
				return regionZones{}, fmt.Errorf("region %s: %s: %w", region, i.Name, err)
			}
			if other, ok := ids[letter]; ok && other != id {
				return regionZones{}, fmt.Errorf("region %s: zones %s and %s have the same number", region, other, id)
			}
			ids[letter] = id
			if isNewest {
				sold[letter]++
			}
		}
	}
	z := regionZones{region: region}
	if len(ids) == 0 {
		for _, letter := range []byte(unlistedZones) {
			z.list = append(z.list, facts.Zone{Letter: letter})
		}
		z.usual = unlistedZones
		return z, nil
	}
	for letter, id := range ids {
		z.list = append(z.list, facts.Zone{Letter: letter, ID: id})
	}
	slices.SortFunc(z.list, func(a, b facts.Zone) int { return int(a.Letter) - int(b.Letter) })
	for _, zone := range z.list {
		if 10*sold[zone.Letter] >= 9*types {
			z.usual += string(zone.Letter)
		}
	}
	return z, nil
}

// of returns the letters of the zones that sell a type, and whether they are
// assumed: a type that the source does not describe, or describes without zones in
// any region, is taken to be sold where nine tenths of the newest generation are.
// No letters mean that the region does not sell it.
func (z regionZones) of(i source.Instance) (letters string, assumed bool) {
	if len(i.Zones) == 0 || z.list[0].ID == "" {
		return z.usual, true
	}
	list := make([]byte, 0, len(i.Zones[z.region]))
	for _, id := range i.Zones[z.region] {
		if letter, err := zoneLetter(id); err == nil {
			list = append(list, letter)
		}
	}
	slices.Sort(list)
	return string(slices.Compact(list)), false
}

func zoneLetter(id string) (byte, error) {
	m := zoneID.FindStringSubmatch(id)
	if m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= 26 {
			return byte('a' + n - 1), nil
		}
	}
	return 0, fmt.Errorf("zone id %q: want one such as use1-az1", id)
}

// generationOf returns the generation of a general purpose, compute or memory type,
// and 0 for others.
func generationOf(name string) int {
	family, _, _ := strings.Cut(name, ".")
	m := familyName.FindStringSubmatch(family)
	if len(m) == 0 || !slices.Contains([]string{"c", "m", "r"}, m[1]) {
		return 0
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return 0
	}
	return n
}
