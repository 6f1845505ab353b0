// Package redact removes confidential data from dumps of clusters: [Strip] deletes the fields of
// an object that plans do not read, e.g. environment, images, arguments and annotations, and
// [Names] replaces the remaining names, each word by the same one everywhere.
//
// Objects are as encoding/json decodes them. The tables of fields list what may stay, because
// unknown fields must never pass: a field that the tables lack is deleted, and a text whose
// meaning they lack is replaced.
package redact
