package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// defaultCatalog is what is bought from if nothing else is said.
const defaultCatalog = "ec2/us-east-1"

// marketFlags say what is on sale.
type marketFlags struct {
	name          string
	filters       []string
	capacityTypes []string
}

// register adds the flags to a command.
func (f *marketFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "catalog", defaultCatalog, "what is on sale: a `CATALOG` that is embedded, such as ec2/eu-west-1 (plimsoll catalog --regions lists them), a JSON or CSV file, or kwok:FILE for a file of Karpenter's KWOK provider")
	flags.StringArrayVar(&f.filters, "filter", nil, "buy only what meets `EXPRESSION`, such as 'category in (c m r),generation>=6,arch=arm64'; may be repeated")
	flags.StringSliceVar(&f.capacityTypes, "capacity-types", nil, "buy only these `TYPES` (reserved, spot, on-demand), and prefer them in this order where the strategy leaves a choice")
}

// order returns the capacity types that were asked for.
func (f *marketFlags) order() ([]offerings.CapacityType, error) {
	var out []offerings.CapacityType
	for _, s := range f.capacityTypes {
		c, err := offerings.ParseCapacityType(s)
		if err != nil {
			return nil, usagef("--capacity-types: %w", err)
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out, nil
}

// catalog returns what is on sale and meets the filters.
func (f *marketFlags) catalog() (*instancetypes.Catalog, error) {
	var keep []instancetypes.Filter
	for _, expression := range f.filters {
		filter, err := instancetypes.ParseFilter(expression)
		if err != nil {
			return nil, usagef("--filter %q: %w", expression, err)
		}
		keep = append(keep, filter)
	}
	types, err := f.order()
	if err != nil {
		return nil, err
	}
	if len(types) > 0 {
		keep = append(keep, instancetypes.ByCapacityType(types...))
	}
	all, err := openCatalog(f.name)
	if err != nil {
		return nil, err
	}
	if all.Len() == 0 {
		return nil, fmt.Errorf("catalog %s is empty: it holds no instance type", f.name)
	}
	if len(keep) == 0 {
		return all, nil
	}
	catalog := all.Filter(keep...)
	if catalog.Len() == 0 {
		return nil, fmt.Errorf("catalog %s: none of the %d instance types meets %s", f.name, all.Len(), f.conditions())
	}
	return catalog, nil
}

// conditions repeats what the catalog was narrowed by.
func (f *marketFlags) conditions() string {
	var parts []string
	for _, expression := range f.filters {
		parts = append(parts, fmt.Sprintf("--filter %q", expression))
	}
	if len(f.capacityTypes) > 0 {
		parts = append(parts, "--capacity-types "+strings.Join(f.capacityTypes, ","))
	}
	return strings.Join(parts, " and ")
}

// provider is a cloud whose catalogs are embedded.
type provider struct {
	name    string
	catalog func(region string) (*instancetypes.Catalog, error)
	regions func() []string
}

// providers returns the clouds whose catalogs are embedded.
func providers() []provider {
	return []provider{
		{"ec2", ec2.Catalog, ec2.Regions},
		{"azure", azure.Catalog, azure.Regions},
	}
}

// openCatalog returns the catalog that --catalog names.
func openCatalog(name string) (*instancetypes.Catalog, error) {
	for _, p := range providers() {
		region, ok := strings.CutPrefix(name, p.name+"/")
		if !ok {
			continue
		}
		c, err := p.catalog(region)
		if err != nil {
			return nil, fmt.Errorf("--catalog %s: %w", name, err)
		}
		return c, nil
	}
	file, kwok := strings.CutPrefix(name, "kwok:")
	f, err := os.Open(file)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("--catalog %s: no embedded catalog (they are listed by catalog --regions), and no file that can be read: %w%s", name, err, nearCatalog(name))
	}
	defer f.Close() //nolint:errcheck // it was only read
	c, err := readCatalog(file, kwok, f)
	if err != nil {
		return nil, within("--catalog "+name, err)
	}
	return c, nil
}

// nearCatalog asks whether the region of a provider was meant, where the provider's name
// is left out or another one.
func nearCatalog(name string) string {
	region := name[strings.LastIndexByte(name, '/')+1:]
	for _, p := range providers() {
		if slices.Contains(p.regions(), region) {
			return fmt.Sprintf("; did you mean %s/%s?", p.name, region)
		}
	}
	return ""
}

// readCatalog reads a file in the format that its name or else its first character tells.
func readCatalog(name string, kwok bool, r io.Reader) (*instancetypes.Catalog, error) {
	in := bufio.NewReader(r)
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case kwok:
		return instancetypes.ReadKWOK(in)
	case ext == ".csv":
		return instancetypes.ReadCSV(in)
	case ext == ".json":
	default:
		if head, _ := in.Peek(1); len(head) == 1 && head[0] != '{' && head[0] != '[' {
			return instancetypes.ReadCSV(in)
		}
	}
	if head, _ := in.Peek(1); len(head) == 1 && head[0] == '[' {
		return nil, errors.New("is a JSON array; if it is a file of Karpenter's KWOK provider, write kwok: before its name")
	}
	return instancetypes.ReadJSON(in)
}

// within puts the name of what is read before every line of an error.
func within(name string, err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = name + ": " + line
	}
	return errors.New(strings.Join(lines, "\n"))
}
