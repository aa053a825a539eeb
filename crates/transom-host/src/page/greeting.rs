//! A socket before its hello: one small frame is read from it, and nothing is kept for it.
//!
//! The library that reads frames makes room for the largest that a page may send, 17 MiB, as soon as a stranger says that they
//! will send one. So the first is read here, byte by byte as far as it goes, and the library gets the socket afterwards.

use std::io::Cursor;

use futures_util::SinkExt as _;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        protocol::{
            CloseFrame, Role, WebSocketConfig,
            frame::{
                FrameHeader,
                coding::{Data, OpCode},
            },
        },
    },
};

use crate::envelope::{self, Hello};

/// A socket whose page has said hello.
pub(super) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// A socket whose page has said nothing yet.
pub(super) struct Greeting {
    stream: TokioIo<Upgraded>,
}

/// Why there is no hello: the code that the socket is closed with, and words.
type Refusal = (u16, &'static str);

impl Greeting {
    pub(super) fn new(upgraded: Upgraded) -> Self {
        Self { stream: TokioIo::new(upgraded) }
    }

    /// Reads the first frame and not a byte more.
    pub(super) async fn hello(&mut self) -> Result<Hello, Refusal> {
        let text = first_frame(&mut self.stream).await?;
        Hello::parse(&text).ok_or(NO_HELLO)
    }

    /// The socket for everything else.
    pub(super) async fn welcome(self) -> Socket {
        let config = WebSocketConfig::default()
            .max_message_size(Some(envelope::MAX_ENVELOPE))
            .max_frame_size(Some(envelope::MAX_ENVELOPE));
        WebSocketStream::from_raw_socket(self.stream, Role::Server, Some(config)).await
    }

    /// Ends it.
    pub(super) async fn refuse(self, code: u16, reason: &'static str) {
        let config = WebSocketConfig::default().read_buffer_size(0).write_buffer_size(0);
        let socket = WebSocketStream::from_raw_socket(self.stream, Role::Server, Some(config));
        close(socket.await, code, reason).await;
    }
}

/// Says why, and ends it.
pub(super) async fn close(mut socket: Socket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code: code.into(), reason: reason.into() };
    let _ = socket.send(Message::Close(Some(frame))).await;
}

/// The text of a frame that is short, whole and masked, as a browser sends it.
async fn first_frame(stream: &mut (impl AsyncRead + Unpin)) -> Result<String, Refusal> {
    let mut head = [0; 14];
    stream.read_exact(&mut head[..2]).await.map_err(|_| NO_HELLO)?;
    // RFC 6455, 5.2: seven bits of length or a mark that two or eight bytes of it follow, then four of the mask.
    let length = [0, 2, 8][usize::from(head[1] & 0x7f).saturating_sub(125)];
    let end = 2 + length + if head[1] & 0x80 == 0 { 0 } else { 4 };
    stream.read_exact(&mut head[2..end]).await.map_err(|_| NO_HELLO)?;
    let parsed = FrameHeader::parse(&mut Cursor::new(&head[..end]));
    let Ok(Some((header, length))) = parsed else { return Err(NO_HELLO) };
    let plain = header.is_final && !header.rsv1 && !header.rsv2 && !header.rsv3;
    let Some(mask) = header.mask.filter(|_| plain && header.opcode == OpCode::Data(Data::Text))
    else {
        return Err(NO_HELLO);
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MAX_HELLO {
        return Err((envelope::TOO_LARGE, "too large for a hello"));
    }
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await.map_err(|_| NO_HELLO)?;
    payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    String::from_utf8(payload).map_err(|_| NO_HELLO)
}

const NO_HELLO: Refusal = (envelope::NOT_YOU, "no hello");
/// The longest first frame. A hello is a key of 64 characters and two names of at most that.
const MAX_HELLO: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;

    use super::*;

    /// The bytes of a frame as a browser sends it.
    fn masked(payload: &str, opcode: OpCode, is_final: bool) -> Vec<u8> {
        let mut bytes = vec![];
        let mut frame = Frame::message(payload.to_owned(), opcode, is_final);
        frame.header_mut().mask = Some([1, 2, 3, 4]);
        frame.format(&mut bytes).unwrap();
        bytes
    }

    async fn read(bytes: &[u8]) -> (Result<String, u16>, usize) {
        let mut stream = Cursor::new(bytes.to_owned());
        let first = first_frame(&mut stream).await;
        (first.map_err(|(code, _)| code), bytes.len() - stream.position() as usize)
    }

    #[tokio::test]
    async fn one_short_frame_is_read_and_what_follows_is_left_alone() {
        let text = OpCode::Data(Data::Text);
        for length in [0, 1, 5, 125, 126, 127, MAX_HELLO] {
            let said = "x".repeat(length);
            let bytes = [masked(&said, text, true), b"more".to_vec()].concat();
            assert_eq!(read(&bytes).await, (Ok(said), 4), "{length}");
        }
    }

    #[tokio::test]
    async fn nothing_else_is_a_first_frame() {
        let (text, no) = (OpCode::Data(Data::Text), envelope::NOT_YOU);
        let mut unmasked = vec![];
        Frame::message("hello", text, true).format(&mut unmasked).unwrap();
        let mut reserved = masked("hello", text, true);
        reserved[0] |= 0x40;
        let mut ping = masked("hello", text, true);
        ping[0] = 0x89;
        #[rustfmt::skip]
        let table = [
            (masked(&"x".repeat(MAX_HELLO + 1), text, true), envelope::TOO_LARGE),
            (masked(&"x".repeat(1 << 17), text, true),       envelope::TOO_LARGE),
            (masked("he", text, false),                      no),
            (masked("hello", OpCode::Data(Data::Binary), true),    no),
            (ping,                                           no),
            (masked("hello", text, true)[..8].to_vec(),      no),
            (vec![0x81],                                     no),
            (vec![0x81, 0xff],                               no),
            (unmasked,                                       no),
            (reserved,                                       no),
            (vec![],                                         no),
        ];
        for (bytes, code) in table {
            assert_eq!(read(&bytes).await.0, Err(code), "{:?}", &bytes[..bytes.len().min(16)]);
        }
    }
}
