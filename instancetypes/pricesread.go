package instancetypes

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// ReadPrices reads prices of one's own in one of two forms; package pricelist reads the price lists of clouds, too.
//
//   - YAML or JSON with a list of changes, and optionally the day of the prices:
//
//     date: 2026-10-01
//     prices:
//
//   - {instanceType: m7i.*, capacityType: on-demand, factor: 0.72}
//
//   - {instanceType: c7g.large, zone: us-east-1a, capacityType: spot, price: 0.031}
//
//   - The same as CSV, with the names of the fields as headings. Lines that begin with # are
//     comments.
//
// price is in USD per hour and replaces the catalog's price, factor multiplies it; each entry has
// one of them. The other fields are those of [PriceChange] and may be left out. The error reports
// every fault at once, as [CatalogFault] values.
func ReadPrices(r io.Reader) (Prices, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return Prices{}, fmt.Errorf("reading prices: %w", err)
	}
	var p priceReader
	switch raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))); {
	case len(raw) > maxInput:
		p.fs.add(&CatalogFault{Problem: fmt.Sprintf("the file is larger than %d MiB: these are no prices", maxInput>>20)})
	case isPriceTable(raw):
		p.table(raw)
	default:
		p.document(raw)
	}
	if err := p.fs.err(); err != nil {
		return Prices{}, fmt.Errorf("reading prices: %w", err)
	}
	return p.prices, nil
}

// isPriceTable reports whether the first line that is no comment has headings of CSV.
func isPriceTable(raw []byte) bool {
	for line := range bytes.Lines(raw) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		return !bytes.ContainsAny(line, ":{[")
	}
	return false
}

// priceReader gathers prices and their faults.
type priceReader struct {
	prices Prices
	fs     faults
}

// table reads CSV.
func (p *priceReader) table(raw []byte) {
	in := csv.NewReader(bytes.NewReader(raw))
	in.Comment, in.TrimLeadingSpace = '#', true
	headings, err := in.Read()
	for err == nil {
		var row []string
		if row, err = in.Read(); err != nil {
			break
		}
		line, _ := in.FieldPos(0)
		entry := map[string]string{}
		for i, cell := range row {
			if cell = strings.TrimSpace(cell); cell != "" {
				entry[strings.TrimSpace(headings[i])] = cell
			}
		}
		p.change(entry, CatalogFault{Line: line, Column: 1})
	}
	if !errors.Is(err, io.EOF) {
		p.fs.add(&CatalogFault{Problem: "is not CSV: " + err.Error(), Err: err})
	}
	if len(p.prices.Changes)+len(p.fs.list) == 0 {
		p.fs.add(&CatalogFault{Problem: "there is no price below the headings " + strings.Join(headings, ", ")})
	}
}

// document reads YAML or JSON.
func (p *priceReader) document(raw []byte) {
	if len(raw) == 0 || raw[0] != '{' {
		converted, err := yaml.YAMLToJSONStrict(raw)
		if err != nil {
			p.fs.add(&CatalogFault{Problem: "is neither YAML nor JSON nor CSV with headings: " + err.Error(), Err: err})
			return
		}
		raw = converted
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(raw, &doc); err != nil {
		f := &CatalogFault{Problem: "is not JSON: " + err.Error(), Err: err}
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			f.Problem = "must be an object with prices, or CSV with headings; it is a " + wrong.Value
		}
		p.fs.add(f)
		return
	}
	var entries []map[string]any
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		switch name {
		case "date":
			p.field(name, doc[name], &p.prices.Date)
			if _, err := day(p.prices.Date); err != nil {
				p.fs.add(&CatalogFault{Field: name, Value: p.prices.Date, Problem: err.Error()})
			}
		case "prices":
			p.field(name, doc[name], &entries)
		default:
			p.fs.add(&CatalogFault{Field: name, Problem: "is not a known field; there are date and prices"})
		}
	}
	if len(entries)+len(p.fs.list) == 0 {
		p.fs.add(&CatalogFault{Problem: "there is no entry of prices"})
	}
	for i, fields := range entries {
		entry := map[string]string{}
		for name, value := range fields {
			switch value.(type) {
			case string, json.Number:
				entry[name] = fmt.Sprint(value)
			default:
				p.fs.add(&CatalogFault{Field: fmt.Sprintf("prices[%d].%s", i, name), Problem: "must be a string or a number"})
			}
		}
		p.change(entry, CatalogFault{Field: fmt.Sprintf("prices[%d]", i)})
	}
}

// field decodes a field of a document.
func (p *priceReader) field(name string, raw []byte, into any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		p.fs.add(&CatalogFault{Field: name, Problem: err.Error(), Err: err})
	}
}

// change reads an entry, whose fields stand at a place.
func (p *priceReader) change(entry map[string]string, at CatalogFault) {
	if p.fs.enough() {
		return
	}
	var x PriceChange
	fail := func(name, value, problem string) {
		f := at
		f.Field, f.Value, f.Problem = strict.Below(at.Field, name), value, problem
		p.fs.add(&f)
	}
	priced := 0
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		var err error
		switch value := entry[name]; name {
		case "instanceType":
			x.InstanceType = value
		case "zone":
			x.Zone = value
		case "zoneID":
			x.ZoneID = value
		case "region":
			x.Region = value
		case "date":
			x.Date, err = day(value)
		case "priceList":
			x.PriceList = value
		case "capacityType":
			x.CapacityType, err = offerings.ParseCapacityType(value)
		case "price":
			priced++
			if _, err = offerings.ParsePrice(value); err == nil {
				x.Price, err = offerings.ParseAdjustment(value)
			}
		case "factor":
			priced++
			x.Price, err = offerings.ParseFactor(value)
		default:
			fail(name, value, "is not a known field; there are instanceType, region, zone, zoneID, capacityType, price, factor, date and priceList")
		}
		if err != nil {
			fail(name, entry[name], reason(err))
		}
	}
	if priced != 1 {
		f := at
		f.Problem = "needs either a price or a factor"
		p.fs.add(&f)
	}
	p.prices.Changes = append(p.prices.Changes, x)
}

// day checks a day and returns it.
func day(text string) (string, error) {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return text, errors.New("must be a day, as YYYY-MM-DD")
	}
	return text, nil
}
