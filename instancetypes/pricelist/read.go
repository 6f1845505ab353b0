package pricelist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// ReadList reads a price list, or several pages of one, written one after another. The changes are in order, each with the
// price list and the day where the list states it: that of its publication, of its newest spot price, or of its rates. Azure's
// list states none. The warnings count the parts that were left out. The error of a list states all its faults, as
// [instancetypes.CatalogFault] values with the path of the value; that of broken JSON the byte.
func ReadList(r io.Reader) (instancetypes.Prices, error) {
	in := bufio.NewReaderSize(r, headSize)
	head, _ := in.Peek(headSize) // an error comes back with the first read
	if m := firstField.FindSubmatch(head); len(m) == 0 || string(m[1]) == "prices" {
		return instancetypes.ReadPrices(in)
	}
	var text io.Reader = in
	if start := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"); start[0] != '{' && start[0] != '[' {
		raw, err := io.ReadAll(in)
		if err != nil {
			return instancetypes.Prices{}, err
		}
		if raw, err = yaml.YAMLToJSONStrict(raw); err != nil {
			return instancetypes.Prices{}, fmt.Errorf("is neither JSON nor YAML: %w", err)
		}
		text = bytes.NewReader(raw)
	} else if _, err := in.Discard(len(head) - len(start)); err != nil {
		return instancetypes.Prices{}, err
	}
	x := reader{doc: document{json.NewDecoder(text)}, lists: map[string]*list{}, products: map[string]product{}, rates: map[rateKey]*rates{}}
	return x.read()
}

// headSize is how much of a file tells its kind, in bytes.
const headSize = 1 << 16

// firstField matches the fields by which price lists differ.
var firstField = regexp.MustCompile(`(?:^|["'\s])(prices|SpotPriceHistory|PriceList|offerCode|Items|skus)["']?\s*:`)

// reader reads price lists; a file is expected to hold one.
type reader struct {
	doc   document
	lists map[string]*list // by name
	// published is the day of an offer file, products are its products that are read, by SKU.
	published string
	products  map[string]product
	// rates are those of Google Cloud's machine families.
	rates map[rateKey]*rates
	// next is the reference to a next page in the last page.
	next string
}

// list is the price list of a name.
func (r *reader) list(name string) *list {
	if r.lists[name] == nil {
		r.lists[name] = newList(name)
	}
	return r.lists[name]
}

// read reads all pages.
func (r *reader) read() (p instancetypes.Prices, err error) {
	if err := r.doc.objects(func() { r.next = "" }, r.field); err != nil {
		return p, err
	}
	if err := r.machineTypes(); err != nil {
		return p, err
	}
	if len(r.lists) == 0 {
		return p, errors.New("has none of the fields of price lists: SpotPriceHistory, PriceList, products, Items or skus")
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(r.lists)) {
		of, err := r.lists[name].result()
		errs = append(errs, err)
		p.Changes = append(p.Changes, of.Changes...)
		p.Warnings = append(p.Warnings, of.Warnings...)
	}
	if r.next != "" {
		p.Warnings = append(p.Warnings, "the price list is cut off: its last page refers to a next one")
	}
	return p, errors.Join(errs...)
}

// field reads the value of a field of a page.
func (r *reader) field(name string) error {
	switch name {
	case "SpotPriceHistory":
		return r.history()
	case "PriceList":
		return r.offers()
	case "products":
		return r.offerFileProducts()
	case "terms":
		return r.offerFileTerms()
	case "publicationDate":
		var date string
		err := r.doc.value(name, &date)
		r.published = dayOf(date)
		return err
	case "Items":
		return r.meters()
	case "skus":
		return r.skus()
	case "NextToken", "NextPageLink", "nextPageToken":
		var next *string
		err := r.doc.value(name, &next)
		if next != nil {
			r.next = *next
		}
		return err
	}
	return r.doc.skip()
}
