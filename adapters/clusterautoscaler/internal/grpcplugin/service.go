package grpcplugin

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto" // which also registers the codec of the other services
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
)

// Method is the full name of the service's method.
const Method = "/" + serviceName + "/BestOptions"

const serviceName = "grpcplugin.Expander"

// Expander answers requests.
type Expander interface {
	// BestOptions returns the options that the autoscaler should choose from. decode reads the request,
	// whose error is the client's fault.
	BestOptions(ctx context.Context, decode func() (expander.Request, error)) (*Response, error)
}

// Register registers the service with a server, which must have the option of [Codec].
func Register(server *grpc.Server, e Expander) {
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*Expander)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "BestOptions", Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return srv.(Expander).BestOptions(ctx, func() (expander.Request, error) {
				var r expander.Request
				err := dec(&r)
				return r, err
			})
		}}},
	}, e)
}

// Response is a BestOptionsResponse. The autoscaler reads the groups of its options alone, so that it has no pods.
type Response struct {
	Options []expander.Option
}

// append appends the message.
func (r *Response) append(to []byte) []byte {
	for _, o := range r.Options {
		option := protowire.AppendString(protowire.AppendTag(nil, optionNodeGroup, protowire.BytesType), o.NodeGroup)
		option = protowire.AppendVarint(protowire.AppendTag(option, optionNodeCount, protowire.VarintType), uint64(o.NodeCount))
		option = protowire.AppendString(protowire.AppendTag(option, optionDebug, protowire.BytesType), o.Debug)
		to = protowire.AppendBytes(protowire.AppendTag(to, responseOptions, protowire.BytesType), option)
	}
	return to
}

// Codec is the option of a server by which it reads and writes the messages of this package, and those of other services
// as always.
func Codec() grpc.ServerOption {
	return grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)})
}

// codec reads requests and writes responses; other has the messages of other services.
type codec struct{ other encoding.CodecV2 }

// Name implements [encoding.CodecV2].
func (codec) Name() string { return proto.Name }

// Marshal implements [encoding.CodecV2].
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if r, ok := v.(*Response); ok {
		return mem.BufferSlice{mem.SliceBuffer(r.append(nil))}, nil
	}
	return c.other.Marshal(v)
}

// Unmarshal implements [encoding.CodecV2].
func (c codec) Unmarshal(data mem.BufferSlice, v any) (err error) {
	r, ok := v.(*expander.Request)
	if !ok {
		return c.other.Unmarshal(data, v)
	}
	*r, err = Read(data)
	return err
}
