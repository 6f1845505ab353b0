package instancetypes

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// formatVersion is the version of the JSON format that this package writes, and
// the only one there is.
const formatVersion = "1"

// ReadJSON reads a catalog in the JSON format that the package comment describes.
// It is strict: unknown and repeated fields, values out of range and names that
// occur twice are faults. The error reports every fault with its line, as [Fault]
// values; after one of syntax the rest of the file is not looked at. A file
// without a single type is an error, since it is never what was meant.
func ReadJSON(r io.Reader) (*Catalog, error) {
	c := newJSONCursor(r)
	b := newCatalogBuilder(&c.fs)
	var provenance []Provenance
	if tok := c.token(); tok == json.Delim('[') {
		c.fault("", "", "must be an object that holds instanceTypes; an array of types is the format of Karpenter's KWOK provider, which ReadKWOK reads")
	} else {
		c.objectFrom(tok, "", func(key string) bool {
			switch key {
			case "version":
				if v, ok := c.number(key); ok && v != formatVersion {
					c.fault(key, v, "is not a version that this program knows")
				}
			case "provenance":
				c.array(key, func(i int) { provenance = append(provenance, c.provenance(fmt.Sprintf("%s[%d]", key, i))) })
			case "instanceTypes":
				c.array(key, func(int) { c.instanceType(b) })
			default:
				return false
			}
			return true
		})
		c.end()
	}
	catalog, err := b.catalog()
	if err != nil {
		return nil, fmt.Errorf("reading JSON catalog: %w", err)
	}
	catalog.provenance = provenance
	return catalog, nil
}

// end makes sure that nothing follows.
func (c *jsonCursor) end() {
	if c.stop {
		return
	}
	if tok, err := c.dec.Token(); err != io.EOF {
		c.at = c.in.at(c.dec.InputOffset())
		if err != nil {
			c.fs.add(readFault(c.at, "", err))
			return
		}
		c.fault("", "", fmt.Sprintf("%s follows the end of the catalog", kind(tok)))
	}
}

func (c *jsonCursor) provenance(path string) Provenance {
	var p Provenance
	c.object(path, func(key string) bool {
		field := dotted(path, key)
		switch key {
		case "source":
			p.Source = c.text(field)
		case "date":
			p.Date = c.text(field)
		case "license":
			p.License = c.text(field)
		case "covers":
			p.Covers = c.text(field)
		case "prices":
			p.Prices = c.capacityTypes(field)
		case "zonesAssigned":
			p.ZonesAssigned = c.capacityTypes(field)
		case "estimated":
			p.Estimated = c.texts(field)
		default:
			return false
		}
		return true
	})
	return p
}

// instanceType reads one type and hands it to the builder.
func (c *jsonCursor) instanceType(b *catalogBuilder) {
	c.in.begin(c.dec.InputOffset())
	known := len(c.fs.list)
	tok := c.token()
	at := places{typ: c.at}
	t := &InstanceType{}
	c.objectFrom(tok, "", func(key string) bool {
		switch key {
		case "name":
			t.Name = c.text(key)
			c.typ = t.Name
		case "labels":
			t.Labels = c.labels(key)
		case "capacity":
			t.Capacity = c.resources(key)
		case "overhead":
			t.Overhead = c.overhead(key)
		case "offerings":
			c.array(key, func(i int) {
				o, place := c.offering(fmt.Sprintf("%s[%d]", key, i))
				t.Offerings = append(t.Offerings, o)
				at.offerings = append(at.offerings, place)
			})
		default:
			return false
		}
		return true
	})
	if !c.stop && tok == json.Delim('{') {
		var explained []string
		for _, f := range c.fs.list[known:] {
			explained = append(explained, f.Field)
		}
		b.add(t, at, explained)
	}
	c.typ = ""
}

func (c *jsonCursor) overhead(path string) Overhead {
	var o Overhead
	c.object(path, func(key string) bool {
		switch key {
		case "kubeReserved":
			o.KubeReserved = c.resources(dotted(path, key))
		case "systemReserved":
			o.SystemReserved = c.resources(dotted(path, key))
		case "evictionThreshold":
			o.EvictionThreshold = c.resources(dotted(path, key))
		default:
			return false
		}
		return true
	})
	return o
}

func (c *jsonCursor) offering(path string) (offerings.Offering, position) {
	var o offerings.Offering
	priced := false
	tok := c.token()
	place := c.at
	c.objectFrom(tok, path, func(key string) bool {
		field := dotted(path, key)
		switch key {
		case "zone":
			o.Zone = c.text(field)
		case "capacityType":
			o.CapacityType = offerings.CapacityType(c.text(field))
		case "price":
			priced = true
			o.Price = c.price(field)
		case "unavailable":
			o.Unavailable = c.boolean(field)
		case "reservationID":
			o.ReservationID = c.text(field)
		case "reservationCount":
			o.ReservationCount = c.integer(field)
		case "interruptionRate":
			o.InterruptionRate = c.float(field)
		case "capacity":
			o.Capacity = c.resources(field)
		case "overhead":
			o.Overhead = c.resources(field)
		case "labels":
			o.Labels = c.labels(field)
		case "estimated":
			o.Estimated = c.texts(field)
		default:
			return false
		}
		return true
	})
	if !priced && !c.stop && tok == json.Delim('{') {
		c.faultAt(place, path+".price", "", "is missing; write 0 for what costs nothing")
	}
	return o, place
}

func (c *jsonCursor) resources(path string) corev1.ResourceList {
	list := corev1.ResourceList{}
	c.object(path, func(key string) bool {
		list[corev1.ResourceName(key)] = c.quantity(dotted(path, key))
		return true
	})
	return list
}

func (c *jsonCursor) labels(path string) map[string]string {
	labels := map[string]string{}
	c.object(path, func(key string) bool {
		labels[key] = c.text(path + "[" + key + "]")
		return true
	})
	return labels
}

func (c *jsonCursor) texts(path string) []string {
	var list []string
	c.array(path, func(i int) { list = append(list, c.text(fmt.Sprintf("%s[%d]", path, i))) })
	return list
}

func (c *jsonCursor) capacityTypes(path string) []offerings.CapacityType {
	var list []offerings.CapacityType
	c.array(path, func(i int) {
		field := fmt.Sprintf("%s[%d]", path, i)
		text := c.text(field)
		ct, err := offerings.ParseCapacityType(text)
		if err != nil && text != "" {
			c.fault(field, text, reason(err))
		}
		list = append(list, ct)
	})
	return list
}

func (c *jsonCursor) price(path string) offerings.Price {
	text, ok := c.number(path)
	if !ok {
		return 0
	}
	p, err := offerings.ParsePrice(text)
	if err != nil {
		c.fault(path, text, reason(err))
	}
	return p
}

func (c *jsonCursor) integer(path string) int {
	text, ok := c.number(path)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		c.fault(path, text, "must be a whole number of at most 32 bits")
	}
	return int(n)
}

func (c *jsonCursor) float(path string) float64 {
	text, ok := c.number(path)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		c.fault(path, text, "is not a number")
	}
	return f
}
