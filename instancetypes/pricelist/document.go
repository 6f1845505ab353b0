package pricelist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// document reads a JSON value piece by piece, because offer files are larger than what should be in memory at once.
type document struct{ *json.Decoder }

// objects calls each for every member of the objects that a reader holds, one after another or in lists: pages of an answer
// that were written into one file. begin is called before each object.
func (d document) objects(begin func(), each func(key string) error) error {
	for {
		start, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		switch {
		case err != nil:
			return d.at(err)
		case start == json.Delim('{'):
			begin()
			if err := d.members(each); err != nil {
				return err
			}
		case start != json.Delim('[') && start != json.Delim(']'):
			return fmt.Errorf("byte %d: %v stands where an object begins", d.InputOffset(), start)
		}
	}
}

// object calls each for every member of the object that comes next; each reads the member's value.
func (d document) object(each func(key string) error) error {
	if err := d.opens('{'); err != nil {
		return err
	}
	return d.members(each)
}

// members is object after the opening brace.
func (d document) members(each func(key string) error) error {
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return d.at(err)
		}
		if err := each(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return d.at(err)
}

// list calls each for every element of the list that comes next, with its index; each reads the element.
func (d document) list(each func(i int) error) error {
	if err := d.opens('['); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		if err := each(i); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return d.at(err)
}

// opens reads the delimiter that an object or a list begins with.
func (d document) opens(want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return d.at(err)
	}
	if token != want {
		return fmt.Errorf("byte %d: is %v, want %v", d.InputOffset(), token, want)
	}
	return nil
}

// value decodes the value that comes next, which stands at a path.
func (d document) value(path string, into any) error {
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, d.at(err))
	}
	return nil
}

// skip reads past the value that comes next.
func (d document) skip() error {
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return d.at(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// at names the place of an error of the decoder; nil if there is none.
func (d document) at(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("byte %d: the file ends too early: was the download complete?", d.InputOffset())
	}
	return fmt.Errorf("byte %d: %w", d.InputOffset(), err)
}
