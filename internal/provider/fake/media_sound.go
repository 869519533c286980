package fake

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"sync"
	"time"
)

// soundTypes are the content types of the formats of speech.
var soundTypes = map[string]string{"mp3": "audio/mpeg", "wav": "audio/wav", "pcm": "audio/pcm"}

// pieceLength is how long the sound of one piece of text is.
const pieceLength = 100 * time.Millisecond

// Sound without compression: a quiet tone of 440 Hz, one channel.
const (
	sampleRate   = 24_000 // a second
	sampleBytes  = 2
	pieceSamples = int(sampleRate * pieceLength / time.Second)
	tonePeriod   = sampleRate / 440
	toneStep     = 80 // between two samples: tonePeriod/2 of them up, as many down
)

// appendSound appends the i-th of n pieces of sound, from 0. All pieces together
// are a file of the format.
func appendSound(b []byte, format string, i, n int) []byte {
	if format == "mp3" {
		for range framesPerPiece {
			b = append(b, silentFrame()...)
		}
		return b
	}
	if format == "wav" && i == 0 {
		b = appendWAVHeader(b, n*pieceSamples*sampleBytes)
	}
	for s := range pieceSamples {
		at := (i*pieceSamples + s) % tonePeriod
		b = binary.LittleEndian.AppendUint16(b, uint16(toneStep*min(at, tonePeriod-at))) //nolint:gosec // at most toneStep*tonePeriod/2
	}
	return b
}

// appendWAVHeader appends the header of a file with so many bytes of samples.
func appendWAVHeader(b []byte, size int) []byte {
	const header, pcm, channels = 36, 1, 1
	le := binary.LittleEndian
	b = le.AppendUint32(append(b, "RIFF"...), uint32(header+size)) //nolint:gosec // scripts are bounded: below 4 GiB
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, pcm), channels)
	b = le.AppendUint32(le.AppendUint32(b, sampleRate), sampleRate*sampleBytes*channels)
	b = le.AppendUint16(le.AppendUint16(b, sampleBytes*channels), 8*sampleBytes)
	return le.AppendUint32(append(b, "data"...), uint32(size)) //nolint:gosec // as above
}

// framesPerPiece frames of 26 ms make about one pieceLength.
const framesPerPiece = 4

// silentFrame is one frame of MP3 without sound: MPEG-1 layer III, 128 kbit/s,
// 44.1 kHz, everything behind its header zero.
var silentFrame = sync.OnceValue(func() []byte {
	const frame = 144 * 128_000 / 44_100 // bytes
	b := make([]byte, frame)
	copy(b, []byte{0xff, 0xfb, 0x90, 0x64})
	return b
})

// picture is the image that is always drawn: a small PNG.
var picture = sync.OnceValue(func() []byte {
	const side = 16
	img := image.NewGray(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			img.SetGray(x, y, color.Gray{Y: uint8(y * side)})
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // a buffer never fails to write
	return b.Bytes()
})
