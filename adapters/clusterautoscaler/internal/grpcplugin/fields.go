package grpcplugin

import "google.golang.org/protobuf/encoding/protowire"

// field is one field of a message.
type field struct {
	name protowire.Number
	// bytes is the value of strings, bytes and messages, number that of integers.
	bytes  []byte
	number uint64
	// whole is the field with its tag.
	whole []byte
}

// next returns the first field of a message that is not empty.
func next(message []byte) (f field, err error) {
	name, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return f, protowire.ParseError(tag)
	}
	n := 0
	switch kind {
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(message[tag:])
	case protowire.VarintType:
		f.number, n = protowire.ConsumeVarint(message[tag:])
	default:
		n = protowire.ConsumeFieldValue(name, kind, message[tag:])
	}
	if n < 0 {
		return f, protowire.ParseError(n)
	}
	f.name, f.whole = name, message[:tag+n]
	return f, nil
}

// eachField calls visit with the fields of a message in their order, until it returns an error.
func eachField(message []byte, visit func(field) error) error {
	for len(message) > 0 {
		f, err := next(message)
		if err != nil {
			return err
		}
		if err := visit(f); err != nil {
			return err
		}
		message = message[len(f.whole):]
	}
	return nil
}

// find returns the value of the first field of a name and the number of bytes up to its end, without a look at the fields
// after it; nil and the length of the message if there is none.
func find(message []byte, name protowire.Number) (value []byte, end int, err error) {
	for end < len(message) {
		f, err := next(message[end:])
		if err != nil {
			return nil, end, err
		}
		if end += len(f.whole); f.name == name {
			return f.bytes, end, nil
		}
	}
	return nil, end, nil
}

// fieldSet is fields of a message, with the set of fields of each message in it; nil is all of a field.
type fieldSet map[protowire.Number]fieldSet

// appendTo appends the fields of a message that are in the set.
func (s fieldSet) appendTo(to, message []byte) ([]byte, error) {
	err := eachField(message, func(f field) error {
		inner, ok := s[f.name]
		switch {
		case !ok:
		case inner == nil:
			to = append(to, f.whole...)
		default:
			part, err := inner.appendTo(nil, f.bytes)
			if err != nil {
				return err
			}
			to = protowire.AppendBytes(protowire.AppendTag(to, f.name, protowire.BytesType), part)
		}
		return nil
	})
	return to, err
}
