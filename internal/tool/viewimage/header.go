package viewimage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"strings"
)

// maxPixels bounds what a decoder elsewhere would have to hold: a small file can
// declare a huge picture. 100 megapixels are more than any camera's.
const maxPixels = 100_000_000

// format is one kind of image file.
type format struct {
	mediaType string
	is        func(head []byte) bool
	size      func(io.Reader) (image.Config, error)
}

// formatOf finds the format that a file's name promises: tools.md 1.15.
func formatOf(path string) (format, bool) {
	switch strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")) {
	case "png":
		return format{"image/png", prefix("\x89PNG\r\n\x1a\n"), png.DecodeConfig}, true
	case "jpg", "jpeg":
		return format{"image/jpeg", prefix("\xff\xd8\xff"), jpeg.DecodeConfig}, true
	case "gif":
		return format{"image/gif", func(h []byte) bool { return prefix("GIF87a")(h) || prefix("GIF89a")(h) }, gif.DecodeConfig}, true
	case "webp":
		return format{"image/webp", isWebP, webpConfig}, true
	}
	return format{}, false
}

func prefix(magic string) func([]byte) bool {
	return func(h []byte) bool { return bytes.HasPrefix(h, []byte(magic)) }
}

// check holds a file's content against the format: magic bytes, then the header
// up to the picture's size. It reads headers only, never pixels.
func (f format) check(data []byte) error {
	if !f.is(data) {
		return fmt.Errorf("its content is not %s, which its name says", f.mediaType)
	}
	c, err := f.size(bytes.NewReader(data))
	switch {
	case err != nil:
		return fmt.Errorf("its header is not that of a whole %s file", f.mediaType)
	case c.Width <= 0 || c.Height <= 0:
		return errors.New("it declares an empty picture")
	case int64(c.Width)*int64(c.Height) > maxPixels:
		return fmt.Errorf("it declares %d x %d pixels, limit %d million pixels", c.Width, c.Height, maxPixels/1_000_000)
	}
	return nil
}

func isWebP(h []byte) bool {
	return len(h) >= 16 && string(h[:4]) == "RIFF" && string(h[8:12]) == "WEBP"
}

var errWebP = errors.New("no WebP header")

// webpConfig reads the size from the first chunk: VP8X, VP8L or VP8 (the RIFF
// container of the WebP specification, RFC 9649 2.3-2.7).
func webpConfig(r io.Reader) (c image.Config, err error) {
	var h [30]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return c, err
	}
	body := h[20:]
	switch string(h[12:16]) {
	case "VP8X":
		c.Width, c.Height = 1+uint24(body[4:]), 1+uint24(body[7:])
	case "VP8L":
		if body[0] != 0x2f {
			return c, errWebP
		}
		bits := binary.LittleEndian.Uint32(body[1:])
		c.Width, c.Height = 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)
	case "VP8 ":
		if body[0]&1 != 0 || body[3] != 0x9d || body[4] != 0x01 || body[5] != 0x2a { // a key frame and its start code
			return c, errWebP
		}
		c.Width = int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff)
		c.Height = int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff)
	default:
		return c, errWebP
	}
	return c, nil
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
