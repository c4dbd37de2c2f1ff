use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;

/// Sends a body that waits for so long to be asked for. What came of it, and the server's end of the connection.
async fn send(patience: Duration) -> (JoinHandle<kube::Result<u16>>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = Config::new(format!("http://{}", listener.local_addr().unwrap()).parse().unwrap());
    let client = client(&config).unwrap();
    let sent = tokio::spawn(async move {
        let mut request = Request::patch("/status").body(Body::from(b"what is so".to_vec())).unwrap();
        request.extensions_mut().insert(SentOnceAsked { by: Instant::now() + patience });
        Ok(client.send(request).await?.status().as_u16())
    });
    (sent, listener.accept().await.unwrap().0)
}

/// What is read until this is the end of it.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut read = Vec::new();
    while !read.ends_with(end.as_bytes()) {
        read.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(read).unwrap()
}

#[tokio::test]
async fn the_body_is_sent_when_the_server_asks_for_it() {
    let (sent, mut server) = send(Duration::from_secs(60)).await;
    let head = read_until(&mut server, "\r\n\r\n").await;
    assert!(head.contains("expect: 100-continue\r\n") && head.contains("content-length: 10\r\n"), "{head}");
    server.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
    assert_eq!(read_until(&mut server, "so").await, "what is so");
    server.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    assert_eq!(sent.await.unwrap().unwrap(), 200);
}

#[tokio::test]
async fn a_server_that_says_nothing_gets_no_body() {
    let (sent, mut server) = send(Duration::from_millis(50)).await;
    let error = sent.await.unwrap().unwrap_err();
    let links = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    assert!(links.last().unwrap().is::<NotAsked>(), "{error:?}");
    let mut rest = String::new();
    server.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("\r\n\r\n"), "the connection ends with the head: {rest}");
}

#[tokio::test]
async fn a_server_that_refuses_by_the_head_alone_is_heard() {
    let (sent, mut server) = send(Duration::from_secs(60)).await;
    read_until(&mut server, "\r\n\r\n").await;
    server.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    assert_eq!(sent.await.unwrap().unwrap(), 403);
}
