namespace {

template <int BITS>
void brainsmith_feed(hls::stream<ap_uint<BITS>> &stream, const unsigned char *bytes, unsigned long long beats) {
    for (; beats; beats--) {
        ap_uint<BITS> word = 0;
        for (int at = 0; at < BITS; at += 8) word |= ap_uint<BITS>(ap_uint<BITS>(*bytes++) << at);
        stream.write(word);
    }
}

// Returns how many beats are missing, or how many are left, as a negative number.
template <int BITS>
long long brainsmith_drain(hls::stream<ap_uint<BITS>> &stream, unsigned char *bytes, unsigned long long beats) {
    for (; beats && !stream.empty(); beats--) {
        ap_uint<BITS> word = stream.read();
        for (int at = 0; at < BITS; at += 8) *bytes++ = (unsigned char) ap_uint<8>(word >> at).to_uint();
    }
    long long missing = (long long) beats;
    for (; !stream.empty(); missing--) stream.read();
    return missing;
}

}  // namespace
