package grpcplugin

import (
	"io"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// stream reads a message from the buffers in which it arrived, without a copy of the whole message: requests have dozens
// of MiB, in frames of 16 KiB.
type stream struct {
	// first has the unread bytes of the first buffer, later are the buffers after it, and left is the number of unread
	// bytes in all of them.
	first []byte
	later mem.BufferSlice
	left  int
	// joined is memory for bytes that lie in several buffers.
	joined []byte
}

// streamField is the beginning of a field: its name, and the value of an integer or the length of a string, bytes or message,
// which is the next in the stream.
type streamField struct {
	name   protowire.Number
	number uint64
	length int
}

func newStream(message mem.BufferSlice) *stream {
	return &stream{later: message, left: message.Len()}
}

// eachField calls visit with the beginning of each field of a message of a length, until it returns an error. The visitor
// may read the value of the field, and nothing after it.
func (s *stream) eachField(length int, visit func(streamField) error) error {
	end := s.left - length
	for s.left > end {
		f, err := s.field()
		if err != nil {
			return err
		}
		after := s.left - f.length
		if after < end {
			return io.ErrUnexpectedEOF
		}
		if err := visit(f); err != nil {
			return err
		}
		s.skip(s.left - after)
	}
	return nil
}

// field reads the beginning of a field.
func (s *stream) field() (f streamField, err error) {
	tag, err := s.varint()
	if err != nil {
		return f, err
	}
	name, kind := protowire.DecodeTag(tag)
	if name < protowire.MinValidNumber {
		return f, protowire.ParseError(protowire.ConsumeFieldValue(name, kind, nil))
	}
	f.name = name
	switch kind {
	case protowire.VarintType:
		f.number, err = s.varint()
	case protowire.BytesType:
		var n uint64
		if n, err = s.varint(); err == nil && n > uint64(s.left) {
			err = io.ErrUnexpectedEOF
		}
		f.length = int(n)
	case protowire.Fixed32Type:
		f.length = 4
	case protowire.Fixed64Type:
		f.length = 8
	default:
		err = errGroup
	}
	return f, err
}

// varint reads an integer.
func (s *stream) varint() (uint64, error) {
	s.advance()
	x, n := protowire.ConsumeVarint(s.first)
	if n < 0 && len(s.first) < longestVarint { // it may go on in the next buffer
		x, n = protowire.ConsumeVarint(s.join(min(longestVarint, s.left)))
	}
	if n < 0 {
		return 0, protowire.ParseError(n)
	}
	s.skip(n)
	return x, nil
}

// longestVarint is the largest number of bytes of an integer.
const longestVarint = 10

// take reads n bytes, at most as many as are left. They are valid until the next call of a method.
func (s *stream) take(n int) []byte {
	s.advance()
	out := s.first[:min(n, len(s.first))]
	if len(out) < n {
		out = s.join(n)
	}
	s.skip(n)
	return out
}

// join copies the next n bytes, and does not go on.
func (s *stream) join(n int) []byte {
	s.joined = append(s.joined[:0], s.first[:min(n, len(s.first))]...)
	for i := 0; len(s.joined) < n; i++ {
		next := s.later[i].ReadOnlyData()
		s.joined = append(s.joined, next[:min(n-len(s.joined), len(next))]...)
	}
	return s.joined
}

// skip goes on by n bytes, at most as many as are left.
func (s *stream) skip(n int) {
	s.left -= n
	for n > len(s.first) {
		n -= len(s.first)
		s.first = nil
		s.advance()
	}
	s.first = s.first[n:]
}

// advance makes the first buffer one with unread bytes, if there is one.
func (s *stream) advance() {
	for len(s.first) == 0 && len(s.later) > 0 {
		s.first, s.later = s.later[0].ReadOnlyData(), s.later[1:]
	}
}
