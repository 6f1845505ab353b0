package instancetypes

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// The readers and writers of files find fields of types and offerings by the names that they
// have in JSON, so that both formats have the same fields, read by the same rules.

// fieldIndex returns the place of the field of a struct that has a name in JSON; nil if there
// is none.
func fieldIndex(of reflect.Type, name string) []int {
	for i := range of.NumField() {
		if tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); tag == name {
			return []int{i}
		}
	}
	return nil
}

// setText sets a field from text. The error states the fault without the text.
func setText(field reflect.Value, text string) (err error) {
	switch to := field.Addr().Interface().(type) {
	case *resource.Quantity:
		*to, err = parseQuantity(text)
		return err
	case *offerings.Price:
		if *to, err = offerings.ParsePrice(text); err != nil {
			return errors.New(reason(err))
		}
		return nil
	case *offerings.CapacityType:
		if *to, err = offerings.ParseCapacityType(text); err != nil {
			return errors.New(reason(err))
		}
		return nil
	case *[]string:
		*to = strings.Fields(text)
		return nil
	}
	switch field.Kind() {
	case reflect.Bool:
		lower := strings.ToLower(text) // spreadsheets write TRUE
		if lower != "true" && lower != "false" {
			return errors.New("must be true or false")
		}
		field.SetBool(lower == "true")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, min(field.Type().Bits(), 64))
		if err != nil {
			return errors.New("must be a whole number of 64 bits")
		}
		field.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return errors.New("is not a number")
		}
		field.SetFloat(x)
	default:
		field.SetString(text)
	}
	return nil
}

// textOf is the inverse of setText: the empty string for an absent value.
func textOf(field reflect.Value) string {
	switch value := field.Interface().(type) {
	case resource.Quantity:
		value = canonicalQuantity(value)
		return value.String()
	case offerings.Price:
		return value.String()
	case []string:
		return strings.Join(value, " ")
	}
	switch {
	case field.IsZero():
		return ""
	case field.Kind() == reflect.Bool:
		return "true"
	case field.CanInt():
		return strconv.FormatInt(field.Int(), 10)
	case field.Kind() == reflect.Float64:
		return strconv.FormatFloat(field.Float(), 'g', -1, 64)
	}
	return field.String()
}
