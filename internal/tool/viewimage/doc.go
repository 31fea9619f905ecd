// Package viewimage is the tool view_image (tools.md 1.15): a model that can see
// looks at an image file and answers a question about it. The answer is text, so
// nothing of the image enters the conversation or the session.
//
// The image is checked before it is sent, by its name, its size and its header.
// It is never decoded: what a decoder would make of it costs nothing here.
package viewimage
