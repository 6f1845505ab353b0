package billing

import (
	"bytes"
	"cmp"
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
)

// maxInput is the size of the largest file that [Read] reads, in bytes: lists of rates of savings plans are long.
const maxInput = 256 << 20

// File is a file for [Read].
type File struct {
	// Name names the file in errors and notes.
	Name string
	In   io.Reader
}

// Input is the content of files.
type Input struct {
	// Commitments are those that apply at the time of reading, in the order of the files.
	Commitments []Commitment
	// Reservations are capacity reservations, as reserved instances of a zone: each of their nodes is charged at the list price on demand,
	// used or not. They are no commitments, and commitments cover their unused nodes.
	Reservations []Commitment
	// Offers are commitments that are on offer, for [BreakEvens]. Their Amount does not count, and CostPerHour is the price of one reserved instance.
	Offers []Commitment
	// Discounts are those of all files, in the order of the files.
	Discounts []Discount
	// Files has the name of the file of each commitment and reservation, by id.
	Files map[string]string
	// Notes name the parts of the files that were left out: commitments that have expired or are not of Linux nodes,
	// and rates of other products; and values that are probably not meant.
	Notes []Note
}

// Note is about a part of a file.
type Note struct {
	// File is the name of the file.
	File string
	// Message says which part was left out and why, or which value is probably not meant.
	Message string
	// Doubt says that the part was read, with such a value.
	Doubt bool
}

// Read reads commitments and discounts from files, which it tells apart by their content:
//
//   - YAML or JSON with a list of discounts, of commitments, or both, whose fields are those of [Discount] and
//     [Commitment]:
//
//     discounts:
//
//   - {percent: 12}
//
//   - {percent: 20, families: [m7i, c7i], regions: [us-east-1], capacityTypes: [on-demand]}
//
//     commitments:
//
//   - {id: compute, kind: savings-plan, amount: 12.5, factor: 0.72}
//
//   - {id: web, kind: reserved-instances, amount: 10, instanceType: m5.large, region: us-east-1, sizeFlexible: true}
//
//     offers: # commitments that are on offer, without an amount
//
//   - {id: one-year, kind: savings-plan, factor: 0.73}
//
//   - the JSON or YAML that these commands print: "aws savingsplans describe-savings-plans", with the rates
//     of the plans from "aws savingsplans describe-savings-plan-rates" or "describe-savings-plans-offering-rates" in
//     files of their own; "aws ec2 describe-reserved-instances" and "describe-reserved-instances-offerings";
//     "aws ec2 describe-capacity-reservations"; "gcloud compute commitments list --format json";
//     and "az reservations reservation list".
//
// Commitments that have ended before the time at are left out with a note. The error reports every fault at once; those of
// fields are [CommitmentError] values.
func Read(at time.Time, sources ...File) (Input, error) {
	r := reading{at: at, input: Input{Files: map[string]string{}}}
	for _, s := range sources {
		r.file = s.Name
		r.source(s.In)
	}
	r.finish()
	if len(r.faults) > 0 {
		return Input{}, errors.Join(r.faults...)
	}
	return r.input, nil
}

// reading gathers the content of files.
type reading struct {
	at     time.Time
	file   string // the file that is being read
	input  Input
	faults []error
	// plans are the ids of the offerings of savings plans whose rates may be in another file, by the id of the plan.
	plans   map[string]string
	rates   map[string][]Rate // by id of a plan or of an offering
	offers  map[string]string // the offerings of rates, with their kind for people
	skipped map[string]int    // what is left out, by reason
}

func (r *reading) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("reading %s: %w", r.file, fmt.Errorf(format, args...)))
}

func (r *reading) note(format string, args ...any) {
	r.input.Notes = append(r.input.Notes, Note{File: r.file, Message: fmt.Sprintf(format, args...)})
}

// skip notes one object that is left out.
func (r *reading) skip(reason string) {
	if r.skipped == nil {
		r.skipped = map[string]int{}
	}
	r.skipped[reason]++
}

// source reads a file.
func (r *reading) source(in io.Reader) {
	if in == nil {
		r.fault("there is no content")
		return
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	switch {
	case err != nil:
		r.fault("%w", err)
		return
	case len(raw) > maxInput:
		r.fault("is larger than %d MiB", maxInput>>20)
		return
	case len(raw) == 0:
		r.fault("is empty")
		return
	}
	if !json.Valid(raw) {
		if raw, err = yaml.YAMLToJSONStrict(raw); err != nil {
			r.fault("is neither YAML nor JSON: %w", err)
			return
		}
	}
	if raw[0] == '[' {
		r.list(raw)
	} else {
		r.object(raw)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.skipped)) {
		r.note("left out: %d %s", r.skipped[reason], reason)
	}
	r.skipped = nil
}

// object reads a document that is an object.
func (r *reading) object(raw []byte) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		r.fault("must be an object or a list: %w", err)
		return
	}
	isList := false
	for _, list := range []struct {
		name string
		read func(map[string]json.RawMessage)
	}{{"savingsPlans", r.savingsPlans}, {"searchResults", r.savingsPlanRates}, {"ReservedInstances", r.reservedInstances},
		{"ReservedInstancesOfferings", r.reservedInstancesOfferings}, {"CapacityReservations", r.capacityReservations}} {
		if _, ok := fields[list.name]; ok {
			list.read(fields)
			isList = true
		}
	}
	if isList {
		r.cutOff(fields)
		return
	}
	if value, ok := fields["value"]; ok { // Azure's API
		r.list(value)
		return
	}
	r.own(raw)
}

// cutOff notes a list whose next page is missing.
func (r *reading) cutOff(fields map[string]json.RawMessage) {
	for _, name := range []string{"nextToken", "NextToken"} {
		if text := string(fields[name]); text != "" && text != "null" && text != `""` {
			r.note("the list is cut off: it ends with a %s", name)
		}
	}
}

// list reads a document that is a list: Google Cloud's and Azure's.
func (r *reading) list(raw []byte) {
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		r.fault("must be a list of objects: %w", err)
		return
	}
	for i, item := range items {
		whole, err := json.Marshal(item)
		if err != nil {
			r.fault("[%d]: %w", i, err)
			continue
		}
		switch {
		case item["properties"] != nil:
			r.azureReservation(whole, i)
		case item["plan"] != nil:
			r.committedUse(whole, i)
		default:
			r.fault("[%d]: is neither a commitment of gcloud nor a reservation of az: it has no plan and no properties", i)
		}
	}
	if len(items) == 0 {
		r.note("the list is empty")
	}
}

// own reads the format of the package comment of [Read].
func (r *reading) own(raw []byte) {
	var file struct {
		Commitments []Commitment `json:"commitments"`
		Discounts   []Discount   `json:"discounts"`
		Offers      []Commitment `json:"offers"`
	}
	result := strict.Decode(raw, &file, strict.Rules{MaxFaults: 20})
	for _, f := range result.Faults {
		r.fault("%s: %s%s", cmp.Or(f.Field, "the file"), shown(f.Value), f.Message)
	}
	for _, field := range result.Unknown {
		r.fault("%s: is not a known field", field)
	}
	switch {
	case len(result.Faults) > 0:
		return // the fields that could not be read would be faults again
	case len(file.Commitments)+len(file.Discounts)+len(file.Offers) == 0 && len(result.Unknown) == 0:
		r.fault("has no commitments, discounts or offers")
	}
	for i := range file.Discounts {
		for _, fault := range file.Discounts[i].validate(i) {
			r.fault("%w", fault)
		}
		if percent := file.Discounts[i].Percent; percent > 0 && percent < nano {
			r.input.Notes = append(r.input.Notes, Note{File: r.file, Doubt: true, Message: fmt.Sprintf("discounts[%d].percent: %v: is less than one percent; 12 stands for 12 %%", i, percent)})
		}
	}
	r.zeros(raw)
	r.input.Discounts = append(r.input.Discounts, file.Discounts...)
	for i := range file.Offers {
		for _, f := range file.Offers[i].validateOffer() {
			r.fault("offers[%d]: %w", i, f)
		}
	}
	r.input.Offers = append(r.input.Offers, file.Offers...)
	for i := range file.Commitments {
		if c := &file.Commitments[i]; c.ID == "" {
			r.fault("commitments[%d].id: must not be empty", i)
		} else {
			r.add(*c)
		}
	}
}

// zeros refuses fields that are 0 where the field without a value means something else.
func (r *reading) zeros(raw []byte) {
	var lists map[string][]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &lists); err != nil {
		r.fault("%w", err)
		return
	}
	for _, list := range []string{"commitments", "offers"} {
		for i, fields := range lists[list] {
			for _, name := range []string{"factor", "unitPrice"} {
				var value Units
				if text, ok := fields[name]; ok && string(text) != "null" && value.UnmarshalJSON(text) == nil && value == 0 {
					r.fault("%s[%d].%s: 0: must be more than 0, or left out", list, i, name)
				}
			}
		}
	}
}

// shown is a value in front of a fault.
func shown(value any) string {
	if value == nil {
		return ""
	}
	text := fmt.Sprint(value)
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return text + ": "
}

// add takes a commitment up, unless it has expired.
func (r *reading) add(c Commitment) { r.addTo(&r.input.Commitments, c) }

func (r *reading) addTo(list *[]Commitment, c Commitment) {
	if c.Expired(r.at) {
		r.note("left out: commitment %s, which ended on %s", c.ID, c.Ends)
		return
	}
	if first, twice := r.input.Files[c.ID]; twice {
		r.fault("commitment %s: id: is given twice, first in %s", c.ID, first)
		return
	}
	r.input.Files[c.ID] = r.file
	*list = append(*list, c)
}

// finish gives savings plans their rates, and checks all commitments.
func (r *reading) finish() {
	for _, offering := range slices.Sorted(maps.Keys(r.offers)) {
		if !slices.Contains(slices.Collect(maps.Values(r.plans)), offering) {
			id, _, _ := strings.Cut(offering, "-")
			r.input.Offers = append(r.input.Offers, Commitment{ID: r.offers[offering] + "-" + id, Kind: SavingsPlan, Rates: r.rates[offering]})
		}
	}
	for _, list := range [][]Commitment{r.input.Commitments, r.input.Reservations} {
		for i := range list {
			c := &list[i]
			r.file = r.input.Files[c.ID]
			if offering, ok := r.plans[c.ID]; ok {
				if c.Rates = slices.Concat(r.rates[offering], r.rates[c.ID]); len(c.Rates) == 0 {
					r.fault("commitment %s: the savings plan has no rates: add a file with the output of aws savingsplans describe-savings-plan-rates --savings-plan-id %s", c.ID, c.ID)
					continue
				}
			}
			for _, f := range c.Validate() {
				r.fault("%w", f)
			}
		}
	}
}

// day is the day of a time stamp of a cloud, as YYYY-MM-DD; empty if it is none. A commitment that ends within a day
// is taken to apply until the end of the day before.
func day(stamp string) string {
	date, _, _ := strings.Cut(stamp, "T")
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return ""
	}
	return date
}
